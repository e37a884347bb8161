#!/bin/sh
# Brings Temporal's two databases to the version of this image; safe to run again.
set -eu
SQL_PASSWORD="$(cat /run/secrets/temporal_database_password)"
export SQL_PASSWORD
for database in temporal temporal_visibility; do
  case "$database" in
    temporal) folder=temporal ;;
    *) folder=visibility ;;
  esac
  tool="temporal-sql-tool --plugin postgres12 --endpoint postgres --port 5432 --user temporal --database $database"
  $tool setup-schema -v 0.0
  $tool update-schema -d "/etc/temporal/schema/postgresql/v12/$folder/versioned"
done
