//! How much of the results of one turn a model is told. All of them share one budget: a script that calls thirty tools gets no
//! more than one call. What is left out is in a file.

use ringfence_dialect::provider::{CallOutput, CallResult, Content, Feedback, ShellOutput};

use crate::output::{Excerpt, SpillOptions};

/// Characters that an image counts for: about what a model pays for one.
const IMAGE_CHARS: usize = 6_000;
/// Characters that the words about what is left out may take.
const WORDS: usize = 400;

/// What the model is told of the budget before everything else.
pub(super) fn in_words(most: usize) -> String {
    format!(
        "The results of all calls and scripts of one turn may come to {most} characters together. What is more is left out in \
         the middle, and kept in a file that the result names: read the part of it that you need."
    )
}

/// Cuts results so that together they fit.
pub(super) fn fit(
    feedback: Vec<Feedback>,
    most: usize,
    spill: Option<&SpillOptions>,
) -> Vec<Feedback> {
    let sizes: Vec<usize> = feedback.iter().map(size).collect();
    if sizes.iter().sum::<usize>() <= most {
        return feedback;
    }
    let share = share(&sizes, most);
    let told = feedback.into_iter().zip(sizes);
    told.map(|(told, size)| {
        if size <= share {
            told
        } else {
            cut(told, size, share, most, spill)
        }
    })
    .collect()
}

/// What each may take at most, so that all together fit: the small ones leave what they do not need to the others.
fn share(sizes: &[usize], most: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let (mut left, mut others) = (most, sorted.len());
    for size in sorted {
        if size > left / others {
            return left / others;
        }
        left -= size;
        others -= 1;
    }
    left
}

fn size(feedback: &Feedback) -> usize {
    match feedback {
        Feedback::Result(result) => match &result.output {
            CallOutput::Content(content) => content.iter().map(content_size).sum(),
            CallOutput::Shell { .. } => chars(&result.output.text()),
        },
        Feedback::Script(output) => chars(&script_json(output)),
        Feedback::Note(note) => chars(note),
    }
}

fn content_size(content: &Content) -> usize {
    match content {
        Content::Text(text) => chars(text),
        Content::Image { .. } => IMAGE_CHARS,
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn script_json(output: &ringfence_dialect::ScriptToolCallOutput) -> String {
    serde_json::to_string(output).unwrap_or_default()
}

/// A result in less room.
fn cut(
    feedback: Feedback,
    size: usize,
    room: usize,
    most: usize,
    spill: Option<&SpillOptions>,
) -> Feedback {
    let whole = match &feedback {
        Feedback::Result(result) => result.output.text(),
        Feedback::Script(output) => script_json(output),
        Feedback::Note(note) => note.clone(),
    };
    let name = crate::identifier::random("result");
    let file = spill.and_then(|spill| spill.keep(&name, &whole).ok());
    let place = match &file {
        Some(file) if file.is_cut => format!("its beginning is in {}", file.path.display()),
        Some(file) => format!("the whole is in {}", file.path.display()),
        None => "it is kept nowhere".to_owned(),
    };
    let words = format!(
        "[this result has {size} characters, and the results of one turn may come to {most}; {place}]"
    );
    let words = if has_image(&feedback) {
        format!("{words}\n[its images are left out]")
    } else {
        words
    };
    let room = room.saturating_sub(WORDS);
    let shortened = |text: &str, room: usize| Excerpt::of_text(text, room).text;
    match feedback {
        Feedback::Result(CallResult {
            call_id,
            form,
            output,
            is_error,
        }) => {
            let output = match output {
                CallOutput::Content(_) => CallOutput::Content(vec![Content::Text(format!(
                    "{}\n{words}",
                    shortened(&whole, room)
                ))]),
                CallOutput::Shell {
                    outputs,
                    max_output_length,
                } => CallOutput::Shell {
                    outputs: cut_lines(outputs, room, &words),
                    max_output_length,
                },
            };
            Feedback::Result(CallResult {
                call_id,
                form,
                output,
                is_error,
            })
        }
        Feedback::Script(_) => {
            let json = shortened(&whole, room).replace('<', "\\u003c");
            Feedback::Note(format!("<tool-results>\n{json}\n{words}\n</tool-results>"))
        }
        Feedback::Note(_) => Feedback::Note(format!("{}\n{words}", shortened(&whole, room))),
    }
}

fn has_image(feedback: &Feedback) -> bool {
    let Feedback::Result(CallResult {
        output: CallOutput::Content(content),
        ..
    }) = feedback
    else {
        return false;
    };
    content
        .iter()
        .any(|part| matches!(part, Content::Image { .. }))
}

fn cut_lines(outputs: Vec<ShellOutput>, room: usize, words: &str) -> Vec<ShellOutput> {
    // Each stream may need a line about what is left out of it.
    let each = (room / (2 * outputs.len().max(1))).saturating_sub(64);
    let last = outputs.len().saturating_sub(1);
    let cut = outputs.into_iter().enumerate().map(|(number, output)| {
        let stderr = Excerpt::of_text(&output.stderr, each).text;
        ShellOutput {
            stdout: Excerpt::of_text(&output.stdout, each).text,
            stderr: if number == last {
                format!("{stderr}\n{words}")
            } else {
                stderr
            },
            exit_code: output.exit_code,
        }
    });
    cut.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(sizes: &[usize]) -> Vec<Feedback> {
        sizes
            .iter()
            .map(|size| Feedback::Note("x\n".repeat(size / 2)))
            .collect()
    }

    #[test]
    fn the_small_ones_stay_whole_and_all_together_fit() {
        for (sizes, most, whole) in [
            (vec![100, 200], 1_000, 2),
            (vec![100, 20_000, 200, 50_000], 10_000, 2),
            (vec![100_000], 5_000, 0),
            (vec![10_000; 30], 30_000, 0),
            (vec![], 100, 0),
        ] {
            let told = fit(notes(&sizes), most, None);
            let after: Vec<usize> = told.iter().map(size).collect();
            assert!(after.iter().sum::<usize>() <= most, "{sizes:?}: {after:?}");
            let same = after
                .iter()
                .zip(&sizes)
                .filter(|(after, before)| after == before)
                .count();
            assert_eq!(same, whole, "{sizes:?}: {after:?}");
            for (told, before) in told.iter().zip(&sizes) {
                let Feedback::Note(text) = told else { panic!() };
                let says = text.contains(&format!("this result has {before} characters"));
                assert_eq!(says, text.chars().count() != *before, "{text}");
            }
        }
    }
}
