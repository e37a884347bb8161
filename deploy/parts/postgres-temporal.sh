#!/bin/sh
# Runs once, when PostgreSQL makes its data folder: Temporal gets a role and databases of its own.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set password="$(cat /run/secrets/temporal_database_password)" <<'SQL'
CREATE ROLE temporal LOGIN PASSWORD :'password';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL
