//! Two runs beside each other: what one of them plants is there when the other begins, and is not
//! brought back by it.

use tokio::net::unix::pipe;

use crate::fence::Fence;
use crate::plants::Way;
use crate::scene::Scene;
use crate::suite::Where;
use crate::{cunning, plants};

/// What is there before, and what the first run plants.
const FIRST: &[Way] = &[
    (
        "beside_common_folder",
        "",
        "cp -r .git .x; git config -f .x/config core.fsmonitor $P; hooks .x/hooks; echo ../.x > .git/commondir",
    ),
    (
        "beside_attributes",
        "git config --global filter.known.clean \"echo ran >> $OUTSIDE/ran; cat\"",
        "printf '* filter=known\\n' > .git/info/attributes",
    ),
    (
        "beside_hooks",
        "git config core.hooksPath planted-hooks",
        "hooks planted-hooks",
    ),
    (
        "beside_settings",
        "git config include.path ../planted.config",
        "printf \"[core]\\nfsmonitor = $P\\n\" > planted.config",
    ),
    (
        "beside_program",
        "git config core.fsmonitor ./build/fsm",
        "mkdir build; cp $P build/fsm",
    ),
    ("beside_bare", "", "bare .; rm .git/HEAD"),
    (
        "beside_half",
        "",
        "half; printf 'ref:\\f refs/heads/main\\n' > .git/HEAD",
    ),
    ("beside_gitlink", "", "evil sub; link . sub"),
    (
        "beside_ordinary_work",
        "git config alias.mine '!true'; cp scripts/hook.sh .git/hooks/pre-push; git branch -q other",
        "git checkout -q -b beside; git commit -q --allow-empty -m beside; git worktree add -q planted/tree other; printf '*.bin -text\\n' > .git/info/attributes",
    ),
];

/// What the second one does once the first has ended and been mended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    Nothing,
    /// The same.
    Again,
}

const SECONDS: [(&str, Second); 2] = [("", Second::Nothing), ("_again", Second::Again)];

/// A trial.
pub struct Beside {
    way: Way,
    second: Second,
}

pub fn names() -> impl Iterator<Item = String> {
    let both = |(name, ..): &'static Way| SECONDS.map(|(end, _)| format!("{name}{end}"));
    FIRST.iter().flat_map(both)
}

pub fn named(name: &str) -> Option<Beside> {
    FIRST.iter().find_map(|way| {
        let mut seconds = SECONDS.iter();
        let found = seconds.find(|(end, _)| format!("{}{end}", way.0) == name);
        found.map(|(_, second)| Beside {
            way: *way,
            second: *second,
        })
    })
}

pub async fn try_here(scene: Scene, at: Where, beside: Beside) -> Option<String> {
    let (name, prepare, plant) = beside.way;
    let workspace = scene.workspace();
    scene.outside_in(&workspace, prepare).expect("prepare");
    let pipes = "mkfifo planted.ready planted.begun planted.over";
    scene.outside_in(&workspace, pipes).expect("pipes");
    scene.give_away();
    let before = scene.settings();
    // One session, and another one.
    let (fence, other) = (Fence::around(&scene, at), Fence::around(&scene, at));
    let begin = [plants::PREAMBLE, cunning::PREAMBLE].concat();
    let again = match beside.second {
        Second::Nothing => "",
        Second::Again => plant,
    };
    // Held open at both ends, so that nobody waits for somebody who has ended.
    let pipe = |name: &str| workspace.join(name);
    let held = ["planted.ready", "planted.begun", "planted.over"].map(pipe);
    let mut both_ends = pipe::OpenOptions::new();
    both_ends.read_write(true);
    let ready = both_ends.open_receiver(&held[0]).expect("ready");
    let begun = both_ends.open_receiver(&held[1]).expect("begun");
    let over = both_ends.open_sender(&held[2]).expect("over");
    let one = format!("{begin}\n{plant}\necho > planted.ready; read -r x < planted.begun");
    let two = format!("{begin}\necho > planted.begun; read -r x < planted.over\n{again}");
    let first = async {
        let done = fence.run(&one).await;
        over.try_write(b"\n").expect("over");
        done
    };
    let second = async {
        ready.readable().await.expect("ready");
        other.run(&two).await
    };
    let (one, two) = tokio::join!(first, second);
    drop((ready, begun, over));
    for path in held {
        std::fs::remove_file(path).expect("pipe");
    }
    drop((fence, other));
    let told = |what: &str| Some(format!("{what}\nthe first had: {one}\nthe second: {two}"));
    if let Some(new) = scene.settings().iter().find(|line| !before.contains(line)) {
        return told(&format!("PLANTED: git's settings have {new}"));
    }
    let is_lost = ["beside_bare", "beside_half"].contains(&name) && beside.second == Second::Again;
    if is_lost {
        // Of a HEAD that was gone when it began the second run knows nothing. The user does.
        let mend = "git status; echo 'ref: refs/heads/main' > .git/HEAD";
        scene.outside_in(&workspace, mend).expect("HEAD");
    }
    if name == "beside_ordinary_work" {
        let kept = "set -e; git mine; test -x .git/hooks/pre-push; grep -q bin .git/info/attributes; git log -1 | grep -q beside\n\
                    git -C planted/tree status; test -z \"$(find . -name '*.set-aside*')\"";
        if let Err(error) = scene.outside_in(&workspace, kept) {
            return told(&format!("ordinary work was harmed: {error}"));
        }
    }
    if let Err(problem) = scene.use_git() {
        return told(&format!("git does not work any more: {problem}"));
    }
    let ran = scene.ran();
    ran.and_then(|what| told(&format!("RAN OUTSIDE: {what}")))
}
