#!/bin/sh
# Makes deploy/secrets/ for compose.yaml: one file per secret, each made once. Keep the folder as safe as the data.
set -eu
umask 077
folder="${1:-$(dirname "$0")/secrets}"
mkdir -p "$folder"
# The containers run under several users, and a bind-mounted file keeps its mode: the folder is what keeps others out.
chmod 700 "$folder"

keep() {
  if [ ! -e "$folder/$1" ]; then
    printf '%s\n' "$2" >"$folder/$1"
    chmod 444 "$folder/$1"
  fi
}
random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
kept() { cat "$folder/$1"; }

keep secret_key "$(random)"
keep database_password "$(random)"
keep database_url "postgresql://pressbox:$(kept database_password)@postgres:5432/pressbox"
keep temporal_database_password "$(random)"
# Random like the rest: log lines blot out every secret, and a plain word would take the product's name with it.
keep objects_access_key_id "$(random | cut -c 1-20)"
keep objects_secret_access_key "$(random)"
keep objects_identities "$(
  printf '{"identities":[{"name":"pressbox","credentials":[{"accessKey":"%s","secretKey":"%s"}],' \
    "$(kept objects_access_key_id)" "$(kept objects_secret_access_key)"
  printf '"actions":["Admin","Read","Write","List"]}]}'
)"
echo "The secrets are in $folder."
