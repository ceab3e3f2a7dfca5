# Sourced by run and test: makes the virtual environment .venv and installs this project into it.
# Usage: prepare EXTRAS   (a comma-separated list, may be empty)

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3.13 python3.12 python3.11 python3; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "Hubwatch needs Python 3.11 or later; install it, or name it: PYTHON=/path/to/python $0" >&2
    return 1
}

installed_with() {
    local extras=$1 state=$2 found extra
    for found in .venv/.installed-*-"$state"; do
        [ -e "$found" ] || return 1
        for extra in ${extras//,/ }; do
            [[ "-${found#.venv/.installed-}" == *"-$extra-"* ]] || continue 2
        done
        return 0
    done
    return 1
}

prepare() {
    local extras=$1 python stamp
    # Installed again only when what is asked for has changed.
    stamp=".venv/.installed-${extras//,/-}-$(cksum setup.cfg pyproject.toml | cksum | cut -d' ' -f1)"
    [ -e "$stamp" ] && return
    # What was installed with more extras serves one that asks for fewer.
    installed_with "$extras" "${stamp##*-}" && return
    if [ ! -x .venv/bin/python ]; then
        python=$(find_python)
        echo "making a virtual environment in .venv ..." >&2
        if ! "$python" -m venv .venv; then
            rm -rf .venv
            echo "$python cannot make virtual environments; on Debian: apt-get install python3-venv" >&2
            return 1
        fi
    fi
    # Python compiles what it uses at the first start; all of it would take another 100 MB.
    echo "installing ${extras:+with extras $extras }(a few minutes the first time) ..." >&2
    .venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
        --editable ".${extras:+[$extras]}" 2> >(grep -v -i -e warning -e deprecation >&2)
    touch "$stamp"
}

# Has Playwright install its Chromium where there is none; tests/untested.py says so if that fails.
prepare_browser() {
    .venv/bin/python - <<'PYTHON' && return
import sys

from incremental.settings.sections import BrowserSettings
from incremental.visit.rendering.browser import find_browser

sys.exit(find_browser(BrowserSettings()).problem is not None)
PYTHON
    echo "no Chromium: installing the one of Playwright ..." >&2
    if ! timeout 600 .venv/bin/playwright install chromium >/dev/null 2>&1; then
        echo "it could not be installed; the tests that need it are skipped" >&2
    fi
}
