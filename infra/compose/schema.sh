#!/bin/sh
# Makes and upgrades Temporal's two databases with Temporal's own tool. Safe to
# repeat: what is there is kept, and only missing versions are applied.
# Host, user and password come from the environment (SQL_*).
set -eu
for database in temporal visibility; do
  case "$database" in
    temporal) name=temporal ;;
    visibility) name=temporal_visibility ;;
  esac
  temporal-sql-tool --db "$name" create
  temporal-sql-tool --db "$name" setup-schema -v 0.0
  temporal-sql-tool --db "$name" update-schema -d "/etc/temporal/schema/postgresql/v12/$database/versioned"
done
