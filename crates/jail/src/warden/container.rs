//! How a launch is fitted to the image that it happens in: the image's variables are there unless
//! the launch has its own, its programs are found first, and `HOME` is a folder that exists.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::protocol::Launch;

/// Fits a launch to the image of the container that the calling process lives in.
pub(super) fn fit(launch: &mut Launch) {
    let image: Vec<Vec<u8>> = std::env::vars_os()
        .map(|(name, value)| [name.into_vec(), value.into_vec()].join(&b'='))
        .collect();
    let home_is_there = |home: &[u8]| {
        use std::os::unix::ffi::OsStrExt;
        Path::new(std::ffi::OsStr::from_bytes(home)).is_dir()
    };
    launch.environment = fitted(&launch.environment, &image, home_is_there);
}

fn fitted(
    own: &[Vec<u8>],
    image: &[Vec<u8>],
    home_is_there: impl Fn(&[u8]) -> bool,
) -> Vec<Vec<u8>> {
    let name = |line: &[u8]| line.split(|byte| *byte == b'=').next().map(<[u8]>::to_vec);
    let mut environment: Vec<Vec<u8>> = image
        .iter()
        .filter(|line| !own.iter().any(|other| name(other) == name(line)))
        .cloned()
        .collect();
    for line in own {
        environment.push(match line.split_at(5.min(line.len())) {
            (b"PATH=", rest) => {
                let images = image.iter().find_map(|line| line.strip_prefix(b"PATH="));
                match images {
                    Some(images) => [b"PATH=", images, b":", rest].concat(),
                    None => line.clone(),
                }
            }
            (b"HOME=", rest) if !home_is_there(rest) => b"HOME=/tmp".to_vec(),
            _ => line.clone(),
        });
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launch_wins_but_for_the_path_and_a_home_that_is_not_there() {
        let lines = |list: &[&str]| -> Vec<Vec<u8>> {
            list.iter().map(|line| line.as_bytes().to_vec()).collect()
        };
        let own = lines(&["PATH=/host", "HOME=/home/me", "A=own"]);
        let image = lines(&["PATH=/image", "A=image", "B=image"]);
        let expected = ["B=image", "PATH=/image:/host", "HOME=/tmp", "A=own"];
        assert_eq!(fitted(&own, &image, |_| false), lines(&expected));
        let kept = fitted(&own, &[], |_| true);
        assert_eq!(kept, own);
    }
}
