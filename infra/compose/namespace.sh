#!/bin/sh
# Makes the namespace where it is missing; safe to repeat.
set -eu
if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  echo "namespace $TEMPORAL_NAMESPACE is there"
else
  # Results outlive this in the object store; the Web UI's histories don't.
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 30d
fi
