#!/usr/bin/env bash
# start.sh: nginx with one worker, a response that is a constant, and a file of 1 MiB; in the foreground.
#
# Usage: start.sh ADDRESS      (127.0.0.1:8080)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
folder="$root/.wirebench/nginx/${1##*:}"

# configuration ADDRESS → nginx.conf
configuration() {
  cat <<END
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  server_tokens off;
  keepalive_requests 1000000000;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen $1 backlog=4096;
    default_type application/json;
    location = /api/weather/current { return 200 '{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}'; }
    location = /api/file { default_type application/octet-stream; alias file.txt; }
    location = /health { return 200 'ok'; }
  }
}
END
}

mkdir -p "$folder"
configuration "$1" >"$folder/nginx.conf"
awk 'BEGIN { while (lines++ < 65536) print "0123456789abcde" }' >"$folder/file.txt"
exec nginx -p "$folder" -e stderr -c nginx.conf
