//! A terminal with a screen, for agents that want one: tmux, which tells of every change and is asked what is to be seen.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::program::Place;

/// So long something is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// So long somebody takes to read a question.
const READING: Duration = Duration::from_millis(600);

pub(crate) struct Screen {
    tmux: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    socket: PathBuf,
    has_changed: bool,
}

impl Screen {
    /// Runs a program on it.
    pub(crate) fn start(place: &Place, command: &Command) -> Self {
        let socket = place.home().join("tmux");
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-f", "/dev/null", "-S"]).arg(&socket);
        tmux.args(["-C", "new-session", "-x", "120", "-y", "50"])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(command.get_current_dir().unwrap())
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut tmux = tmux.spawn().unwrap();
        let output = BufReader::new(tmux.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // A line may have half of a character in it.
            for line in output.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = tmux.stdin.take().unwrap();
        let mut screen = Self {
            tmux,
            input,
            lines,
            socket,
            has_changed: false,
        };
        // The answer to what tmux was started with.
        screen.answer();
        screen
    }

    /// Waits until a text is to be seen.
    pub(crate) fn expect(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.has_changed = false;
            let seen = self.look();
            if seen.contains(text) {
                return;
            }
            while !self.has_changed {
                let left = end.saturating_duration_since(Instant::now());
                let Ok(line) = self.lines.recv_timeout(left) else {
                    panic!("never saw {text:?}, but\n{seen}");
                };
                self.hear(&line);
            }
        }
    }

    /// Presses a key, by tmux's name for it, as a person does: having read what is there. Agents take no keys in the moment in
    /// which a question appears, and nothing tells when they do.
    pub(crate) fn press(&mut self, key: &str) {
        let end = Instant::now() + READING;
        while let Ok(line) = self
            .lines
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.hear(&line);
        }
        self.ask(&format!("send-keys {key}"));
    }

    fn look(&mut self) -> String {
        self.ask("capture-pane -p")
    }

    fn ask(&mut self, command: &str) -> String {
        writeln!(self.input, "{command}").unwrap();
        self.answer()
    }

    /// What lies between the marks of an answer.
    fn answer(&mut self) -> String {
        let mut said: Option<Vec<String>> = None;
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("tmux answers");
            if line.starts_with("%begin ") {
                said = Some(Vec::new());
            } else if line.starts_with("%end ") || line.starts_with("%error ") {
                return said.unwrap_or_default().join("\n");
            } else if let Some(said) = &mut said {
                said.push(line);
            } else {
                self.hear(&line);
            }
        }
    }

    fn hear(&mut self, line: &str) {
        self.has_changed |= line.starts_with("%output ") || line.starts_with("%exit");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .arg("kill-server")
            .status();
        let _ = self.tmux.kill();
        let _ = self.tmux.wait();
    }
}
