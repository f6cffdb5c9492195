# The site, and with other commands a worker of judge runs and all of manage.py: compose.yaml puts them together.
FROM python:3.13-slim-trixie AS build
COPY --from=ghcr.io/astral-sh/uv:0.13 /uv /bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never VAR_DIR=/var/lib/crux
WORKDIR /srv/crux

# Before the code, so that a change of it does not fetch them again.
COPY pyproject.toml uv.lock ./
RUN uv sync --locked --no-dev --no-cache

COPY . .
# These keys are for this command alone: without them it would make files of keys, the same in every copy of the image.
RUN SECRET_KEY=of-the-build JUDGE_SECRET_KEYS=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= \
    .venv/bin/python manage.py collectstatic --noinput && mkdir -p $VAR_DIR/uploads $VAR_DIR/archive

FROM python:3.13-slim-trixie
RUN useradd --system --create-home --uid 10001 crux
COPY --from=build /srv/crux /srv/crux
COPY --from=build --chown=crux:crux /var/lib/crux /var/lib/crux
ENV PATH=/srv/crux/.venv/bin:$PATH PYTHONUNBUFFERED=1 VAR_DIR=/var/lib/crux
WORKDIR /srv/crux
USER 10001
EXPOSE 8000
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", \
     "--workers", "2", "--blocking-threads", "4", "--respawn-failed-workers", "--workers-kill-timeout", "30", \
     "--log-level", "warning", "crux_site.wsgi:application"]
