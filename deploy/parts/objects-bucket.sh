#!/bin/sh
# Makes the bucket unless it is there.
set -eu
ask() { echo "$1" | weed shell -master=objects:9333 -filer=objects:8888; }
ask s3.bucket.list | grep -q '^ *pressbox[[:space:]]' || ask 's3.bucket.create -name pressbox'
