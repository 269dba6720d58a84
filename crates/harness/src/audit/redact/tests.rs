use super::*;

fn text(input: &str) -> String {
    Redactor::default().text(input).into_owned()
}

/// `‹…›` marks what must go.
#[test]
fn secrets_are_taken_out_of_texts() {
    for marked in [
        // Assignments.
        "TOKEN=‹abc123› ./deploy",
        "export GITHUB_TOKEN=‹abc123›; ls",
        "export DB_PASSWORD='‹it is long›' && ls",
        "PASSWORD=\"‹a \\\" b›\" cmd",
        "PASSWORD='‹$ecret›' cmd",
        "STRIPE_KEY=‹abc› x",
        "PGPASSWORD=‹abc› psql",
        "DB_PASS=‹abc› REDISCLI_AUTH=‹def› x",
        "echo '//registry.example.com/:_auth=‹abc›' >> .npmrc",
        "aws configure set aws_secret_access_key ‹abc›",
        "python3 -c 'os.environ[\"TOKEN\"] = \"‹abc›\"'",
        "kubectl create secret generic x --from-literal=password=‹abc›",
        "git -c http.extraHeader=\"Authorization: Bearer ‹abc›\" fetch",
        "git clone https://‹abcdef›:x-oauth-basic@github.com/x/y",
        "MYSQL_PWD=‹hunter2› mysql",
        "TOKEN+=‹abc›",
        "env OPENAI_API_KEY=‹abc› node x.js",
        "echo 'api_key: ‹abc123›' > f",
        "password = ‹hunter2›",
        "password = \"‹hunter2›\"",
        r#"curl -d '{"password": "‹hunter2›", "user": "me"}' https://x"#,
        r#"curl -d "{\"password\": \"‹hunter2›\"}" https://x"#,
        r#"{"clientSecret":"‹abc›","name":"n"}"#,
        "https://x/y?access_token=‹abc›&page=2",
        "https://x/y?sv=1&sig=‹a%2Fb›",
        // Flags.
        "login --password ‹hunter2› --user me",
        "login --password=‹hunter2› --user me",
        "login --api-key '‹a b›' x",
        "curl -u me:‹hunter2› https://x",
        "curl --user 'me:‹hunter2›' https://x",
        "sudo curl -ume:‹hunter2› https://x",
        "mysql -u root -p‹hunter2› db",
        "sshpass -p ‹hunter2› ssh me@host",
        "echo x | docker login -u me -p ‹hunter2› registry",
        "redis-cli -a ‹hunter2› ping",
        "openssl enc -pass pass:‹hunter2› -in f",
        // Headers.
        "curl -H 'Authorization: Bearer ‹abc.def›' https://x",
        "curl -H \"Authorization: Basic ‹dXNlcjpwdw==›\" https://x",
        "curl -H 'Authorization: ‹opaque thing›' https://x",
        "curl -H 'X-Api-Key: ‹abc›' https://x",
        "curl -H 'X-Api-Key:‹abc›' https://x",
        "curl -H 'Cookie: ‹a=1; b=2›' https://x",
        "GET / HTTP/1.1\nAuthorization: Bearer ‹abc›\nHost: x",
        r#"{"Authorization": "Bearer ‹abc›"}"#,
        // Shapes.
        "echo ‹ghp_0123456789abcdefghijABCDEFGHIJ012345› x",
        "‹github_pat_11ABCDEFG0123456789_abcdefghijklmnop›",
        "x ‹sk-proj-abcDEF0123456789abcdef› y",
        "x ‹sk-ant-api03-abcdefghijklmnop_0123456789-x› y",
        "‹AKIAIOSFODNN7EXAMPLE›",
        "x,‹xoxb-123456789012-abcdefghij›,y",
        "‹AIzaSyA0123456789abcdefghijklmnopqrstuv›",
        "a ‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123› b",
        "send bearer ‹0123456789abcdef0123› to it",
        "-----BEGIN RSA PRIVATE KEY-----‹\nMIIE\nabcd\n›-----END RSA PRIVATE KEY-----\nnext",
        "-----BEGIN OPENSSH PRIVATE KEY-----‹\nb3Bl›",
        "git clone https://me:‹hunter2›@github.com/x/y.git",
        "psql postgres://app:‹p@ss›@db.local:5432/app",
    ] {
        let input: String = marked.chars().filter(|c| !matches!(c, '‹' | '›')).collect();
        let mut expected = String::new();
        let mut rest = marked;
        while let Some((before, after)) = rest.split_once('‹') {
            let (_, after) = after.split_once('›').unwrap();
            expected += before;
            expected += REDACTED;
            rest = after;
        }
        assert_eq!(text(&input), expected + rest, "{input}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    for input in [
        "ls -la && echo done",
        "docker login --password-stdin registry.example.com",
        "echo 'pass: 12 fail: 0'",
        "set -o pipefail; git config set user.name me",
        "cd $PWD; OLDPWD=/tmp pwd",
        "PWD=/home/me make",
        "TOKEN=$OTHER ./deploy",
        "TOKEN=\"${OTHER}\" ./deploy",
        "TOKEN=$(cat /run/token) ./deploy",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x",
        "curl -u \"$USER:$PASSWORD\" https://x",
        "TOKEN= ./deploy",
        "if [ \"$TOKEN\" = \"\" ]; then exit 1; fi",
        "jq '.token == null' f",
        "MAX_TOKENS=4096 run --max-tokens 10",
        "run --token-count 5 --token-file /run/t",
        "TOKEN_PATH=/run/t SECRET_NAME=db run",
        "psql -c 'select primary_key: 1, sort_key=2'",
        "PUBLIC_KEY=abc run",
        "monkey=1 keyboard: us tokenizer=bpe",
        "docker run -p 8080:80 image:tag",
        "ssh -p 22 git@host",
        "mysql -u root -p db",
        "git clone ssh://git@github.com/x/y.git",
        "git clone https://me@github.com/x/y.git",
        "curl http://localhost:8080/a@b",
        "curl https://me:$PASSWORD@host/x",
        "pip install sk-learn-contrib-some-long-name",
        "task-sk-0123456789abcdefghijklmn",
        "AKIASHORT ghp_short eyJhbGciOiJIUzI1NiJ9",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
        "the bearer of this letter is welcome",
        "echo password",
        "cat secrets.txt token.json",
        "git commit -m 'fix: token parsing'",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ] {
        assert_eq!(text(input), input);
    }
}

#[test]
fn arguments_are_read_as_arguments_and_as_texts() {
    let argv = |argv: &[&str]| {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        Redactor::default().argv(&argv)
    };
    assert_eq!(
        argv(&["x", "--password", "two words"]),
        ["x", "--password", REDACTED]
    );
    assert_eq!(
        argv(&["x", "--password", "--verbose"]),
        ["x", "--password", "--verbose"]
    );
    assert_eq!(
        argv(&["curl", "-u", "me:pw", "x"]),
        ["curl", "-u", "me:[redacted]", "x"]
    );
    assert_eq!(
        argv(&["bash", "-lc", "TOKEN=abc x"]),
        ["bash", "-lc", "TOKEN=[redacted] x"]
    );
    assert_eq!(
        argv(&["curl", "-H", "X-Api-Key:abc", "--token=abc"]),
        ["curl", "-H", "X-Api-Key:[redacted]", "--token=[redacted]"]
    );
}

#[test]
fn known_values_go_wherever_they_stand() {
    let redactor = Redactor::knowing(["hunter22", "hunter22-and-more", "abc", "disabled"]);
    assert_eq!(redactor.text("echo xhunter22x"), "echo x[redacted]x");
    assert_eq!(redactor.text("hunter22-and-more"), REDACTED);
    assert_eq!(redactor.text("abc is disabled"), "abc is disabled");
    assert_eq!(redactor.argv(&["a=hunter22".to_owned()]), ["a=[redacted]"]);
}

#[test]
fn secrets_of_the_environment_are_those_with_a_name_that_says_so() {
    let redactor = Redactor::knowing_secrets_of(
        [
            ("GITHUB_TOKEN", "s3cret-value"),
            ("LD_LIBRARY_PATH", "/usr/local/lib"),
        ],
        ["one-m0re"],
    );
    assert_eq!(
        redactor.text("ls /usr/local/lib s3cret-value one-m0re"),
        "ls /usr/local/lib [redacted] [redacted]"
    );
}

#[test]
fn no_text_makes_it_fail() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(512), |(input in "[ \"'=:$\\\\(){}@a-zé-]{0,40}(TOKEN|password|://|eyJ|-----BEGIN |bearer )?[ \"'=:$\\\\(){}@a-zé-]{0,40}")| {
        let once = text(&input);
        prop_assert!(once.len() <= input.len() * 12 + 12);
    });
}
