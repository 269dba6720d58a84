//! Following a shell to the script that it reads from its standard input.

use super::{
    bash::tree::Statement,
    command::Position,
    follow::{program_name, script_text},
    unclear::Obstacle,
    walk::{Spot, Walker},
    word::Word,
};
use crate::shell::ShellKind;

/// Follows the shells of a pipeline to what they read.
pub(super) fn standard_input(
    walker: &mut Walker,
    statement: &Statement,
    pipeline: usize,
    before: usize,
    spot: &Spot,
) {
    let readers: Vec<usize> = walker
        .facts
        .commands
        .iter()
        .enumerate()
        .skip(before)
        .filter(|(_, c)| c.pipeline == pipeline && c.reads_script())
        .map(|(index, _)| index)
        .collect();
    for index in readers {
        let command = &walker.facts.commands[index];
        let (stage, place_known) = (command.stage, statement.stages.len() > command.stage);
        let kind = command
            .program()
            .and_then(|p| ShellKind::of_program(super::base_name(p)))
            .unwrap_or(ShellKind::Bash);
        let spot = Spot {
            via: Some(index),
            pipeline,
            stage,
            ..spot.clone()
        };
        let document = walker
            .facts
            .here_documents
            .iter()
            .rev()
            .find(|d| d.pipeline == pipeline && d.stage == stage)
            .map(|d| d.body.clone());
        if let Some(body) = document {
            script_text(walker, &body, kind, Position::StandardInput, &spot);
        } else if spot.position == Position::ProcessSubstitution && stage == 0 {
            walker.unclear(Obstacle::SuppliedScript, ">(");
        } else if place_known && stage > 0 {
            match printed(walker, pipeline, stage - 1) {
                Some(body) => script_text(walker, &body, kind, Position::StandardInput, &spot),
                None => walker.unclear(Obstacle::SuppliedScript, "|"),
            }
        }
    }
}

/// What the stage of a pipeline prints, if that can be told.
fn printed(walker: &Walker, pipeline: usize, stage: usize) -> Option<Word> {
    let mut commands = walker
        .facts
        .commands
        .iter()
        .filter(|c| c.pipeline == pipeline && c.stage == stage && !c.supposed);
    let command = commands.next()?;
    if commands.next().is_some() {
        return None;
    }
    let words = &command.words;
    match program_name(words) {
        "echo" => {
            let rest = words[1..]
                .iter()
                .skip_while(|w| w.is("-n") || w.is("-e") || w.is("-ne"));
            let parts: Option<Vec<&str>> = rest.map(Word::literal).collect();
            let text = parts?.join(" ");
            (!text.contains('\\')).then(|| Word::of(text))
        }
        "printf" => match &words[1..] {
            [format] => format
                .literal()
                .filter(|f| !f.contains(['%', '\\']))
                .map(Word::of),
            [format, value] if format.is("%s") || format.is("%s\\n") => {
                value.literal().map(Word::of)
            }
            _ => None,
        },
        "cat" if words.len() == 1 && stage == 0 => {
            let documents = &walker.facts.here_documents;
            let found = documents
                .iter()
                .rev()
                .find(|d| d.pipeline == pipeline && d.stage == stage);
            found.map(|d| d.body.clone())
        }
        _ => None,
    }
}
