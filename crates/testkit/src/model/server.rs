//! The server: who is connected, which answer is next, and what was asked.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::exchange::{self, After, Request};
use super::script::{Answer, Script};

/// A fake model server on the loopback. Dropping it ends all connections.
#[derive(Debug)]
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Told of every request.
    asked: Condvar,
}

#[derive(Default)]
struct State {
    script: Script,
    given: Vec<bool>,
    requests: Vec<Request>,
    /// Told of each request, as it comes.
    record: Option<Box<dyn Write + Send>>,
    /// Ends of the connections, by which they are closed.
    open: Vec<TcpStream>,
    is_over: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakeModel {
    /// Starts one at a port of the system's choice.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, 0)
    }

    /// Starts one at a port.
    pub fn start_at(script: Script, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        {
            let mut state = shared.state();
            state.given = vec![false; script.answers.len()];
            state.script = script;
        }
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || accept(&listener, &serving));
        Ok(Self { address, shared })
    }

    /// Writes each request down, as one line of JSON, as it comes.
    pub fn record_to(&self, record: impl Write + Send + 'static) {
        self.shared.state().record = Some(Box::new(record));
    }

    /// Where it is, without the `/v1` that SDKs of `OpenAI`'s want and Anthropic's do not.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Has it answer these too, when what it had to answer is used up.
    pub fn then(&self, answers: impl IntoIterator<Item = Answer>) {
        let mut state = self.shared.state();
        let before = state.script.answers.len();
        state.script.answers.extend(answers);
        let more = state.script.answers.len() - before;
        state.given.extend(std::iter::repeat_n(false, more));
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Waits until it was asked so often.
    pub fn wait_for_requests(&self, count: usize) {
        let state = self.shared.state();
        let is_waited = |state: &mut State| state.requests.len() < count;
        drop(self.shared.asked.wait_while(state, is_waited));
    }

    /// How many of its answers nobody asked for yet.
    pub fn left(&self) -> usize {
        let state = self.shared.state();
        state.given.iter().filter(|given| !**given).count()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.is_over = true;
        for stream in state.open.drain(..) {
            // One that is closed already is what is wanted.
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        drop(state);
        // The listener hears of it by one more connection.
        drop(TcpStream::connect(self.address));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let mut state = shared.state();
        if state.is_over {
            return;
        }
        let (Ok(()), Ok(end)) = (stream.set_nodelay(true), stream.try_clone()) else {
            continue;
        };
        state.open.push(end);
        drop(state);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            let ends = stream.try_clone();
            // A connection that breaks is the other side's to notice.
            let _ = serve(BufReader::new(stream), &shared);
            if let Ok(stream) = ends {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        });
    }
}

fn serve(mut stream: BufReader<TcpStream>, shared: &Shared) -> io::Result<()> {
    while let Some(request) = Request::read(&mut stream)? {
        let (answer, number) = take(shared, &request);
        if exchange::answer(&mut stream, &request, &answer, number)? == After::Ends {
            return Ok(());
        }
    }
    Ok(())
}

/// The answer that is for a request, and the request's number.
fn take(shared: &Shared, request: &Request) -> (Answer, usize) {
    let mut state = shared.state();
    state.requests.push(request.clone());
    // Whoever waits gets the lock when the answer is taken.
    shared.asked.notify_all();
    let number = state.requests.len();
    if let Some(record) = &mut state.record {
        let headers: serde_json::Map<_, _> = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let body = serde_json::from_str(&request.body).unwrap_or_else(|_| json!(request.body));
        let line = json!({"method": request.method, "path": request.path,
                          "headers": headers, "body": body});
        // Whoever keeps the record finds out that it is short.
        let _ = writeln!(record, "{line}").and_then(|()| record.flush());
    }
    if request.words().is_none() {
        return (elsewhere(request), number);
    }
    let json = request.json();
    let State { script, given, .. } = &mut *state;
    let fits =
        |(at, answer): &(usize, &Answer)| !given[*at] && answer.when.holds(&request.body, &json);
    let found = script.answers.iter().enumerate().find(fits);
    if let Some((at, answer)) = found {
        given[at] = true;
        return (answer.clone(), number);
    }
    let none = || Answer {
        raw: Some(json!({"type": "error", "error": {"type": "api_error",
            "message": "the script of the fake model has no answer left for this request"}})),
        ..Answer::status(500)
    };
    (script.otherwise.clone().unwrap_or_else(none), number)
}

/// What is answered to requests that are not for an answer of the model.
fn elsewhere(request: &Request) -> Answer {
    if request
        .path
        .split('?')
        .next()
        .is_some_and(|path| path.ends_with("/models"))
    {
        let models = json!([{"id": "fake", "object": "model", "created": 0, "owned_by": "fake"}]);
        return Answer {
            raw: Some(json!({"object": "list", "data": models})),
            ..Answer::default()
        };
    }
    Answer::status(404)
}
