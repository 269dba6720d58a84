#!/bin/sh
# A home folder with a workspace in it, for commands that are really run: fixture.sh FOLDER
set -e
home=$1
mkdir -p "$home/work/sub" "$home/work/src" "$home/work/lib" "$home/work/bin" "$home/work/nested"
cd "$home/work"

# What leaves the marker, in the forms that programs load.
printf '#!/bin/sh\n: > /home/u/m\n' > evil
chmod +x evil
printf ': > /home/u/m\n' > evil.txt
printf 'HOME[$(touch ../m)]\n' > p1
printf '%s\n' '-v HOME[$(touch${IFS}../m)]' > p2
printf '%s\n' '-v PATH /home/u/work/bin' > p3
printf '%s\n' '-vPATH' > p4
# Values that are more than one word once they are split.
printf 'f -delete\n' > fdel2
printf '1 -o ../m\n' > fo
printf 'f -o ../m\n' > fo2
printf '%%H --output=../m\n' > fout2
printf 'f names\n' > two
printf '5 ./evil\n' > five
printf 'a\n' > in1
printf 'b\n' > in2
printf 'touch ../m\n' | base64 > b64
printf '.TH X 1\n.SH NAME\nx\n.pso touch /home/u/m\n.sy touch /home/u/m\n' > evil.1
printf 'open("/home/u/m","w")\n' > lib/planted.py
printf 'package planted; open(F,">/home/u/m"); 1;\n' > lib/planted.pm
printf 'require("fs").writeFileSync("/home/u/m","")\n' > evil.js
printf 'BEGIN{system("touch /home/u/m")}\n' > evil.awk
printf 'touch /home/u/m\n' > lib/planted_function
printf 'x:\n\ttouch /home/u/m\n' > evil.mk
for program in ls wc true; do cp evil "bin/$program"; done
printf '/home/u/work/bin:/usr/bin\n' > binpath
printf '../m\n' > binm
mkdir -p config/git gitexec
printf '[core]\n\tfsmonitor = /home/u/work/evil\n' > gitconfig
cp gitconfig config/.gitconfig
cp gitconfig config/git/config
cp evil gitexec/git-evil

# Ordinary files.
printf 'one\ntwo\nthree\n' > f
printf 'b\na\nc\n' > names
printf '{"name":"x"}\n' > data.json
printf 'fn main() {}\n' > src/main.rs
printf 'keep\n' > keep
printf 'y\n' > yes
printf 'thing.o: thing.c\n' > Makefile
printf 'int x;\n' > thing.c
for pack in gzip xz bzip2 zstd; do "$pack" -q -k f 2>/dev/null || true; done
tar cf t.tar f
yes "some line of text that is sorted" | head -60000 > big

# A repository with something to lose, and one below it whose settings run a program.
repository() {
  git init -q .
  git config user.email a@b
  git config user.name n
  git config commit.gpgsign false
}
repository
git add -A
git commit -qm one
(
  cd nested
  repository
  git commit -q --allow-empty -m n
  printf x > f
  git config core.fsmonitor /home/u/work/evil
)
ln -s nested link
printf more > second
git add second link
git commit -qm two
git branch topic HEAD~1
printf 'stashed\n' > f
git stash -q
printf 'changed\n' > f
printf 'u\n' > untracked
