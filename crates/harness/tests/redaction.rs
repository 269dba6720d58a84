//! Secrets that were planted in commands: none of them stands in the log, whichever way the command
//! was given, and what is no secret can still be read there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use ringfence::audit::{
    Answer, ApprovalAnswered, ApprovalAsked, AuditLog, AuditPlace, Command, Decision, Intent,
    Record, SystemClock,
};

/// Commands with a secret in each, which stands between `‹` and `›`. What stands around it stays.
const PLANTED: &[&str] = &[
    // Programs whose flags do not say what they hold.
    "curl -u me:‹hunter2x› https://h/",
    "curl -sSfu me:‹hunter2x› https://h/",
    "curl -ume:‹hunter2x› https://h/",
    "curl --user me:‹hunter2x› https://h/",
    "curl --user=me:‹hunter2x› https://h/",
    "curl -U me:‹hunter2x› https://h/",
    "curl --proxy-user me:‹hunter2x› https://h/",
    "curl --oauth2-bearer ‹hunter2x› https://h/",
    "curl -b ‹sid=hunter2x› https://h/",
    "curl --cookie 'session=‹hunter2x›' https://h/",
    "curl --pass ‹hunter2x› --cert c.pem https://h/",
    "curl -E cert.pem:‹hunter2x› https://h/",
    "wget --password=‹hunter2x› https://h/",
    "wget --http-password ‹hunter2x› https://h/",
    "wget --ftp-password=‹hunter2x› ftp://h/",
    "mysql -u root -p‹hunter2x› db",
    "mysql -uroot -p'‹hunter2x›' db",
    "mysql -u root --password=‹hunter2x› db",
    "mysqldump --password ‹hunter2x› db",
    "mysqladmin -p‹hunter2x› shutdown",
    "mariadb -p‹hunter2x›",
    "sshpass -p ‹hunter2x› ssh me@h",
    "sshpass -p‹hunter2x› ssh me@h",
    "sshpass -p '‹hunter2x›' rsync -a . me@h:",
    "docker login -u me -p ‹hunter2x› registry.h",
    "docker login registry.h -p=‹hunter2x›",
    "docker login -u me --password ‹hunter2x› registry.h",
    "podman login -p ‹hunter2x› registry.h",
    "helm registry login -u me -p ‹hunter2x› h",
    "docker run -e DB_PASSWORD=‹hunter2x› image",
    "docker build --build-arg NPM_TOKEN=‹hunter2x› .",
    "redis-cli -a ‹hunter2x› ping",
    "redis-cli -h h -a '‹hunter2x›' ping",
    "redis-cli --pass ‹hunter2x› ping",
    "redis-cli -u redis://:‹hunter2x›@h:6379 ping",
    "psql postgres://app:‹hunter2x›@h/db",
    "psql 'host=h user=app password=‹hunter2x›'",
    "PGPASSWORD=‹hunter2x› psql -h h",
    "mongosh -u me -p ‹hunter2x› h",
    "mongosh 'mongodb+srv://me:‹hunter2x›@h/db'",
    "mongodump --username me --password ‹hunter2x›",
    "sqlcmd -S h -U sa -P ‹hunter2x›",
    "sqlcmd -S h -U sa -P‹hunter2x›",
    "bcp t out f -U sa -P ‹hunter2x›",
    "sqlplus me/‹hunter2x›@h",
    "cqlsh -u me -p ‹hunter2x› h",
    "clickhouse-client --password ‹hunter2x›",
    "influx -username me -password ‹hunter2x›",
    "ldapsearch -x -D cn=a -w ‹hunter2x› -b dc=h",
    "ldapmodify -D cn=a -w‹hunter2x›",
    "ldappasswd -D cn=a -w ‹hunter2x› -s ‹hunter3x› cn=b",
    "smbclient //h/s -U me%‹hunter2x›",
    "smbclient //h/s ‹hunter2x› -U me",
    "mount -t cifs //h/s /m -o username=me,password=‹hunter2x›",
    "net use z: '\\\\h\\s' /user:me ‹hunter2x›",
    "rpcclient -U 'me%‹hunter2x›' h",
    "winexe -U me%‹hunter2x› //h cmd",
    "xfreerdp /u:me /p:‹hunter2x› /v:h",
    "rdesktop -u me -p ‹hunter2x› h",
    "ipmitool -H h -U me -P ‹hunter2x› power status",
    "snmpget -v3 -u me -A ‹hunter2x› -X ‹hunter3x› h oid",
    "snmpwalk -v2c -c ‹hunter2x› h",
    "zip -P ‹hunter2x› a.zip f",
    "unzip -P‹hunter2x› a.zip",
    "7z a -p‹hunter2x› a.7z f",
    "rar a -hp‹hunter2x› a.rar f",
    "unrar x -p‹hunter2x› a.rar",
    "gpg --batch --passphrase ‹hunter2x› -d f",
    "gpg --passphrase=‹hunter2x› -d f",
    "openssl rsa -in k -passin pass:‹hunter2x›",
    "openssl enc -aes-256-cbc -k ‹hunter2x› -in f",
    "openssl enc -aes-256-cbc -K ‹0123456789abcdef0123456789abcdef› -iv 00",
    "openssl pkcs12 -export -passout 'pass:‹hunter2x›'",
    "keytool -storepass ‹hunter2x› -keypass ‹hunter3x› -list",
    "jarsigner -storepass ‹hunter2x› a.jar me",
    "ssh-keygen -t ed25519 -N ‹hunter2x› -f k",
    "ssh-keygen -p -P ‹hunter2x› -N '‹hunter3x›' -f k",
    "cryptsetup luksOpen --key-file=- d m <<< ‹hunter2x›",
    "htpasswd -b f me ‹hunter2x›",
    "htpasswd -bc f me ‹hunter2x›",
    "echo me:‹hunter2x› | chpasswd",
    "echo '‹hunter2x›' | sudo -S ls",
    "echo ‹hunter2x› | docker login -u me --password-stdin h",
    "printf '%s' ‹hunter2x› | gh auth login --with-token",
    "printf '‹hunter2x›\\n' | passwd --stdin me",
    "useradd -p ‹hunter2x› me",
    "usermod --password ‹hunter2x› me",
    "expect -c 'spawn ssh h; expect assword:; send \"‹hunter2x›\\r\"'",
    "ansible all -m ping --extra-vars 'ansible_become_password=‹hunter2x›'",
    "ansible-playbook p.yml -e ansible_ssh_pass=‹hunter2x›",
    "ansible-playbook p.yml --extra-vars '{\"db_password\": \"‹hunter2x›\"}'",
    "kubectl create secret generic s --from-literal=anything=‹hunter2x›",
    "kubectl create secret generic s --from-literal anything=‹hunter2x›",
    "kubectl create secret docker-registry s --docker-password=‹hunter2x›",
    "kubectl config set-credentials me --token=‹hunter2x›",
    "kubectl --token ‹hunter2x› get pods",
    "oc login h --token=‹hunter2x›",
    "oc login h -u me -p ‹hunter2x›",
    "vault login ‹hunter2x›",
    "vault login token=‹hunter2x›",
    "vault kv put secret/app key=‹hunter2x›",
    "vault write auth/userpass/login/me password=‹hunter2x›",
    "VAULT_TOKEN=‹hunter2x› vault read x",
    "consul kv get -token=‹hunter2x› k",
    "aws configure set aws_secret_access_key ‹hunter2x›",
    "aws configure set default.aws_session_token ‹hunter2x›",
    "AWS_SECRET_ACCESS_KEY=‹hunter2x› aws s3 ls",
    "aws secretsmanager put-secret-value --secret-id s --secret-string ‹hunter2x›",
    "aws ssm put-parameter --name n --type SecureString --value ‹hunter2x›",
    "az login --service-principal -u id -p ‹hunter2x› --tenant t",
    "az storage blob list --account-key ‹hunter2x›",
    "az keyvault secret set --name n --vault-name v --value ‹hunter2x›",
    "gcloud auth activate-refresh-token me ‹hunter2x›",
    "doctl auth init -t ‹hunter2x›",
    "heroku config:set API_KEY=‹hunter2x› ",
    "fly secrets set ANYTHING=‹hunter2x›",
    "gh secret set NAME --body ‹hunter2x›",
    "gh secret set NAME -b‹hunter2x›",
    "git clone https://me:‹hunter2x›@h/r.git",
    "git clone https://‹ghp_0123456789abcdefghijABCDEFGHIJ012345›@github.com/x/y",
    "git remote set-url origin https://oauth2:‹hunter2x›@h/r",
    "git -c http.extraheader='PRIVATE-TOKEN: ‹hunter2x›' fetch",
    "npm config set //registry.h/:_authToken ‹hunter2x›",
    "npm config set //registry.h/:_authToken=‹hunter2x›",
    "npm config set _password ‹hunter2x›",
    "npm publish --otp=‹123456›",
    "yarn config set npmAuthToken ‹hunter2x›",
    "pip install --index-url https://me:‹hunter2x›@h/simple x",
    "twine upload -u me -p ‹hunter2x› dist/*",
    "poetry config pypi-token.pypi ‹hunter2x›",
    "cargo login ‹hunter2x›",
    "cargo publish --token ‹hunter2x›",
    "gem push --key ‹hunter2x› x.gem",
    "mvn deploy -Dpassword=‹hunter2x›",
    "java -Ddb.password=‹hunter2x› -jar a.jar",
    "rclone config create r sftp pass ‹hunter2x›",
    "lftp -u me,‹hunter2x› h",
    "ncftpget -u me -p ‹hunter2x› h . f",
    "ftp ftp://me:‹hunter2x›@h/",
    "svn co --username me --password ‹hunter2x› https://h",
    "nmcli dev wifi connect net password ‹hunter2x›",
    "wpa_passphrase net ‹hunter2x›",
    "iwconfig wlan0 key ‹hunter2x›",
    "terraform apply -var db_password=‹hunter2x›",
    "terraform apply -var='token=‹hunter2x›'",
    "stripe listen --api-key ‹sk_test_0123456789abcdefghij›",
    "http -a me:‹hunter2x› GET h",
    "http h Authorization:'Bearer ‹hunter2x›'",
    "jira login --token '‹hunter2x›'",
    "rabbitmqctl add_user me ‹hunter2x›",
    "rabbitmqctl change_password me ‹hunter2x›",
    "mosquitto_pub -u me -P ‹hunter2x› -t t -m m",
    "kinit me <<< ‹hunter2x›",
    "mc alias set m https://h key ‹hunter2x›",
    "s3cmd --secret_key=‹hunter2x› ls",
    "psql -c \"ALTER USER app PASSWORD '‹hunter2x›'\"",
    "mysql -e \"CREATE USER a IDENTIFIED BY '‹hunter2x›'\"",
    // By name.
    "export FOO_TOKEN=‹hunter2x›",
    "export FOO_TOKEN=‹hunter2x› BAR_SECRET='‹hunter3x›'",
    "set -x FOO_API_KEY ‹hunter2x›",
    "echo 'DB_PASSWORD=‹hunter2x›' >> .env",
    "echo 'machine h login me password ‹hunter2x›' > .netrc",
    "curl -d 'user=me&password=‹hunter2x›' https://h",
    "curl -F password=‹hunter2x› https://h",
    "curl 'https://h/?api_key=‹hunter2x›&x=1'",
    "curl -d '{\"password\":\"‹hunter2x›\",\"user\":\"me\"}' https://h",
    "curl -d '{\"client_secret\": \"‹hunter2x›\"}' https://h",
    "curl -H 'Authorization: Bearer ‹hunter2x›' https://h",
    "curl -H 'Authorization: token ‹hunter2x›' https://h",
    "curl -H \"X-Auth-Token: ‹hunter2x›\" https://h",
    "curl -H 'X-Api-Key:‹hunter2x›' https://h",
    "curl -H 'Cookie: ‹sid=hunter2x›' https://h",
    "wget --header='Authorization: Basic ‹aHVudGVyMng=›' https://h",
    "cat > .env <<EOF\nSECRET_KEY=‹hunter2x›\nEOF",
    "cat > c.yml <<'EOF'\ndb:\n  password: ‹hunter2x›\nEOF",
    "cat > c.json <<EOF\n{\"token\": \"‹hunter2x›\"}\nEOF",
    "python3 - <<EOF\nPASSWORD = '‹hunter2x›'\nEOF",
    "python3 -c \"import os; os.environ['API_TOKEN']='‹hunter2x›'\"",
    // By shape.
    "cat > k <<EOF\n-----BEGIN OPENSSH PRIVATE KEY-----‹\nb3BlbnNzaC1rZXktdjE\n›-----END OPENSSH PRIVATE KEY-----\nEOF",
    "echo '-----BEGIN PGP PRIVATE KEY BLOCK-----‹\nlQOYBF\n›-----END PGP PRIVATE KEY BLOCK-----'",
    "echo ‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP› | jwt",
    "echo ‹AKIAIOSFODNN7EXAMPLE›",
    "echo ‹ghp_0123456789abcdefghijABCDEFGHIJ012345›",
    "echo ‹github_pat_11ABCDEFG0123456789_abcdefghijklmnop›",
    "echo ‹glpat-0123456789abcdefghij›",
    "echo ‹xoxb-123456789012-abcdefghij›",
    "curl https://hooks.slack.com/services/‹T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX›",
    "echo ‹sk_live_0123456789abcdefghij›",
    "echo ‹sk-proj-abcDEF0123456789abcdef›",
    "echo ‹sk-ant-api03-abcdefghijklmnop_0123456789-x›",
    "echo ‹AIzaSyA0123456789abcdefghijklmnopqrstuv›",
    "echo ‹npm_0123456789abcdefghijklmnopqrstuvwxyz›",
    "echo ‹pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3ODkwMTIz›",
    "echo ‹hf_abcdefghijklmnopqrstuvwxyz01234567›",
    "echo ‹dckr_pat_abcdefghijklmnopqrstuvwxyz0›",
    "echo ‹SG.abcdefghijklmnopqrstuv.0123456789abcdefghijklmnopqrstuvwxyzABCDEFG›",
    "echo ‹123456789:AAabcdefghijklmnopqrstuvwxyz0123456›",
    // Wherever the program stands.
    "ls\nmysql -p‹hunter2x› db",
    "true && curl -u me:‹hunter2x› https://h",
    "if mysql -p‹hunter2x› -e x; then ls; fi",
    "x=$(curl -u me:‹hunter2x› https://h)",
    "x=`curl -u me:‹hunter2x› https://h`",
    "sudo -u db mysql -p‹hunter2x› db",
    "timeout 5 sshpass -p ‹hunter2x› ssh h",
    "docker exec -it db mysql -uroot -p‹hunter2x›",
    "ssh h 'mysql -p‹hunter2x› db'",
    "bash -c \"curl -u me:‹hunter2x› https://h\"",
    "bash -lc 'sshpass -p ‹hunter2x› ssh h \"ls -la\"'",
    "find . -exec curl -u me:‹hunter2x› -T {} https://h \\;",
    "for i in 1 2; do redis-cli -a ‹hunter2x› ping; done",
    "/usr/bin/mysql -p‹hunter2x›",
    "FOO=bar env X=1 mysql -p‹hunter2x›",
    "xargs -n1 redis-cli -a ‹hunter2x› < f",
];

/// Commands without a secret, some of which look as if they had one.
const HARMLESS: &[&str] = &[
    "mkdir -p build/out",
    "cp -p a b",
    "grep -a pattern file",
    "grep -rn password src/",
    "ssh -p 22 me@h",
    "ssh -i key.pem me@h uptime",
    "scp -P 2222 f me@h:",
    "docker run -p 80:80 image",
    "docker run -u 1000:1000 image",
    "docker compose -p project up",
    "podman run -p 8080:80 image",
    "mysql -u root -p db",
    "mysql -P 3306 -h h db",
    "psql -p 5432 -U me db",
    "psql -w -h h db",
    "redis-cli -p 6379 ping",
    "redis-cli --raw get key",
    "zip -r a.zip folder",
    "unzip -p a.zip f",
    "tar -xpf a.tar",
    "patch -p1 < f.diff",
    "git log -p -3",
    "git commit -m 'fix: token parsing'",
    "git clone https://github.com/x/y.git",
    "git push -u origin main",
    "curl -o out https://h/a:b",
    "curl -X POST -d 'name=me' https://h",
    "curl -b cookies.txt https://h",
    "sudo -u postgres psql",
    "sort -u f",
    "kubectl get secret s -o yaml",
    "kubectl create secret generic s --from-file=f",
    "kubectl -n kube-system get pods",
    "vault login -method=oidc",
    "vault kv get secret/app",
    "aws s3 ls --profile me",
    "aws configure set region eu-west-1",
    "npm config set registry https://registry.h/",
    "npm install -w packages/a",
    "ansible-playbook p.yml -e env=prod",
    "openssl rand -hex 16",
    "openssl x509 -in c.pem -noout",
    "gpg --verify f.sig f",
    "7z x a.7z -oout",
    "ldapsearch -x -W -b dc=h",
    "terraform apply -var region=eu",
    "java -Dfile.encoding=UTF-8 -jar a.jar",
    "cargo test --workspace -p ringfence",
    "cargo login",
    "pip install -U pip",
    "python3 -u run.py",
    "ls -la && echo done",
    "cd src; make -j8",
    "echo '123:45'",
    "export PATH=/usr/bin:$PATH",
    "TOKEN=$OTHER ./deploy",
    "curl -u \"$USER:$PASS\" https://h",
    "sshpass -p \"$PASS\" ssh h",
    "mysql -p\"$PASS\" db",
    "echo \"$TOKEN\" | docker login --password-stdin h",
    "rg 'api_key' --type rust",
    "sed -n 's/password/x/p' f",
    "passwd --status me",
    "ssh-keygen -l -f k.pub",
    "ssh-keygen -t ed25519 -N '' -f k",
    "useradd -m me",
    "echo hello | tee f",
    "printf '%s\\n' a b",
    "mount -t tmpfs none /m -o size=1m",
    "http GET h",
    "gh secret list",
    "snmpwalk -v3 -u me h",
];

fn without_marks(marked: &str) -> String {
    marked.chars().filter(|c| !matches!(c, '‹' | '›')).collect()
}

fn secrets(marked: &str) -> Vec<&str> {
    let parts = marked.split('‹').skip(1);
    parts.map(|part| part.split('›').next().unwrap()).collect()
}

/// Everything that is written when a command is judged, asked about and approved by a rule.
fn kept(command: Command, said: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditPlace {
        dir: dir.path().join("audit"),
        state_dir: dir.path().join("state"),
    };
    let log = AuditLog::open(&place, SystemClock).unwrap();
    log.record(Record::ApprovalAsked(ApprovalAsked {
        call: "c".into(),
        session: "s".into(),
        command: command.clone(),
        reason: format!("it is suspicious (`{said}`: it reaches the network)"),
        proposed_rule: Some(format!("commands that begin with `{said}`")),
        justification: Some(said.to_owned()),
    }))
    .unwrap();
    log.record(Record::ApprovalAnswered(ApprovalAnswered {
        call: "c".into(),
        session: "s".into(),
        answer: Answer::ApprovedWithRule,
        by: "terminal".into(),
        waited_ms: 1,
        rule: Some(format!(
            "[[rule]]\nprefix = {:?}\n",
            said.split(' ').collect::<Vec<_>>()
        )),
    }))
    .unwrap();
    log.record(Record::Intent(Intent {
        call: "c".into(),
        session: "s".into(),
        parent: None,
        script: None,
        tool: "bash".into(),
        command,
        shell: None,
        cwd: "/work".into(),
        sandbox: "native".into(),
        verdict: Decision::Allow,
        reason: said.to_owned(),
        rule: None,
        approved_by: None,
        justification: None,
    }))
    .unwrap();
    let name = log.path().file_name().unwrap().to_str().unwrap().to_owned();
    let heads = place.state_dir.join("audit-heads");
    let head = fs::read(heads.join(format!("{name}.head"))).unwrap();
    fs::read_to_string(log.path()).unwrap() + &String::from_utf8_lossy(&head)
}

#[test]
fn no_planted_secret_stands_in_the_log() {
    assert!(PLANTED.len() >= 60);
    let mut leaked = Vec::new();
    for marked in PLANTED {
        let text = without_marks(marked);
        let shell = ["bash", "-lc", &text].map(str::to_owned).to_vec();
        for command in [Command::Line(text.clone()), Command::Argv(shell)] {
            let form = format!("{command:?}");
            let kept = kept(command, &text);
            for secret in secrets(marked) {
                // As JSON has it.
                let quoted = serde_json::to_string(secret).unwrap();
                if kept.contains(quoted.trim_matches('"')) {
                    leaked.push(format!("{secret:?} of {form}"));
                }
            }
        }
    }
    leaked.dedup();
    assert!(
        leaked.is_empty(),
        "{} leaked:\n{}",
        leaked.len(),
        leaked.join("\n")
    );
}

/// Not everything is taken out: who reads the log sees what was run.
#[test]
fn what_is_no_secret_can_be_read() {
    let mut lost = Vec::new();
    for text in HARMLESS {
        let kept = kept(Command::Line((*text).to_owned()), "");
        let quoted = serde_json::to_string(text).unwrap();
        if !kept.contains(&quoted) {
            lost.push(*text);
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}
