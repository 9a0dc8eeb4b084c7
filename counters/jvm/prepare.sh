#!/bin/sh
# prepare.sh FOLDER compiles the Java files beside this script to FOLDER/agent.jar, with the JDK that the counted program will use.
set -eu
to=$1
cd "$(dirname "$0")"
bin=${JAVA_HOME:+$JAVA_HOME/bin/}
javac=$(command -v "${bin}javac") || { echo "there is no ${bin}javac: counting needs a JDK, not only a Java runtime" >&2; exit 1; }
made_by="$(readlink -f "$javac") $(cat prepare.sh ./*.java | cksum)"
if [ -s "$to/agent.jar" ] && [ "$(cat "$to/made-by" 2>/dev/null)" = "$made_by" ]; then
  exit 0
fi
# Others may read the folder at this moment: the new file takes its place at once.
new=$(mktemp -d "$to/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
asm=java.base/jdk.internal.org.objectweb.asm
# A JDK from 24 on has an interface for class files; older ones have ASM inside.
"$javac" -nowarn -d "$new" Agent.java Counter.java ClassFileRewriter.java 2>"$new/errors" ||
  "$javac" -nowarn -d "$new" --add-exports "$asm=ALL-UNNAMED" --add-exports "$asm.tree=ALL-UNNAMED" \
    Agent.java Counter.java AsmRewriter.java 2>"$new/errors" || { cat "$new/errors" >&2; exit 1; }
printf 'Premain-Class: wirebench.Agent\nBoot-Class-Path: agent.jar\n' >"$new/manifest"
"${bin}jar" --create --file "$new/agent.jar" --manifest "$new/manifest" -C "$new" wirebench
mv "$new/agent.jar" "$to/agent.jar"
printf '%s\n' "$made_by" >"$to/made-by"
