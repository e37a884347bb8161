#!/bin/sh
# Makes the namespace unless it is there. Closed workflows stay readable as long as the activity page shows them.
set -eu
until temporal operator cluster health; do
  sleep 2
done
temporal operator namespace describe --namespace default >/dev/null ||
  temporal operator namespace create --namespace default --retention 7d
