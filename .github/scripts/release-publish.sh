#!/usr/bin/env bash
# release-publish.sh: make a GitHub release of files made by release.sh, with its section of CHANGELOG.md, and move the tag of its major version
# there. Runs in release.yml.
#
# Usage: .github/scripts/release-publish.sh VERSION DIR     (gh is logged in by GH_TOKEN; GITHUB_SHA is the commit that VERSION tags)
set -euo pipefail

main() {
  local version="$1" major="${1%%.*}" notes
  notes="$(mktemp)"
  {
    scripts/lib/changelog.sh "$version"
    # shellcheck disable=SC2016 # the backticks are Markdown
    printf '\nCheck a file with: `gh attestation verify FILE --repo %s --signer-workflow %s/.github/workflows/release.yml --deny-self-hosted-runners`\n' "$GITHUB_REPOSITORY" "$GITHUB_REPOSITORY"
  } >"$notes"
  gh release create "$version" "$2"/* --verify-tag --title "wirebench $version" --notes-file "$notes"
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/git/refs/tags/$major" --field sha="$GITHUB_SHA" --field force=true \
    || gh api --silent --method POST "repos/$GITHUB_REPOSITORY/git/refs" --field ref="refs/tags/$major" --field sha="$GITHUB_SHA"
}

main "$@"
