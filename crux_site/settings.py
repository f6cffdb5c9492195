"""Settings for all deployments. Differences come from environment variables:

DATABASE_URL    a file below var/ by default; postgres://user:password@host/name in production
DATABASE_POOLED 1 behind a connection pooler such as PgBouncer
DATABASE_REPLICA_URL  a standby server of the same PostgreSQL, which pages of results read
SECRET_KEY      made once and kept in var/secret-key where it is not given
ALLOWED_HOSTS   host names, separated by commas
HTTPS           1 behind a proxy that speaks HTTPS: cookies are then sent over HTTPS alone
VAR_DIR         var/: the database file, the key, collected static files, uploads
TIME_ZONE       UTC
JUDGE_ENDPOINTS named servers that judge: "local=http://127.0.0.1:8001/v1"; keys in JUDGE_KEY_<NAME>;
                several of one name are separated by "|"
JUDGE_PRICES    what they charge for a million tokens: "local=0.10/0.40/EUR" (read, written, currency)
JUDGE_VLLM_ARGS engine arguments of vLLM in process, as JSON
JUDGE_CA_BUNDLE a PEM file of certificate authorities for model servers, in place of the system's
JUDGE_SECRET_KEYS  Fernet keys that encrypt the keys of model servers in the database, the newest first; made
                once and kept in var/judge-secret-keys where it is not given
JUDGE_LEASE_SECONDS  120; after how long a dead worker's pairs are another's
ANSERINI_JAVA   the `java` that runs Lucene, where it shall not be that of the extra
IMPORT_MAX_MEGABYTES, IMPORT_MAX_FILES  4000 and 200000: what an upload may hold, unpacked
API_PER_MINUTE  600 requests of a user to the API; a stranger has a tenth
ARRIVALS_PER_MINUTE  120 openings of studies' addresses from one network address
DEMO            1, set by `make demo`: the log-in page offers the demo's log-ins; never with HTTPS
DEBUG           1 for Django's own error pages while developing; never where others can look
"""

import os
from pathlib import Path

from csp.constants import NONE, SELF

from crux_site import environment

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = environment.private_folder("VAR_DIR", BASE_DIR / "var")

SECRET_KEY = environment.secret_key("SECRET_KEY", VAR_DIR / "secret-key")
DEBUG = environment.switch("DEBUG")
ALLOWED_HOSTS = environment.hosts("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
HTTPS = environment.switch("HTTPS")
DEMO = environment.switch("DEMO") and not HTTPS

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "django_tasks_db",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "crux_site",
    "annotation",
    "evaluation",
    "judging",
    "building",
]

MIDDLEWARE = [
    "crux_site.middleware.health_check",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "crux_site.middleware.site_language",
    "crux_site.middleware.no_nul",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "crux_site.projects.visitors.LoginRequired",
    "crux_site.projects.guard.MembersOnly",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "crux_site.middleware.ContentSecurityPolicy",
    "django_htmx.middleware.HtmxMiddleware",
    "crux_site.middleware.UserErrors",
]

ROOT_URLCONF = "crux_site.urls"
WSGI_APPLICATION = "crux_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "crux_site.context.appearance",
                "crux_site.context.session",
                "crux_site.context.demo",
                "crux_site.context.shared",
            ],
            # Tags of one page alone lie in its folder, and are loaded by the name of the folder; those of
            # many, in an app's templatetags.
            "libraries": {
                file.parent.name: ".".join(file.relative_to(BASE_DIR).with_suffix("").parts)
                for app in INSTALLED_APPS
                for file in sorted((BASE_DIR / app).rglob("tags.py"))
            },
        },
    }
]

DATABASE_POOLED = environment.switch("DATABASE_POOLED")
LOCK_TIMEOUT = "20s"  # of PostgreSQL: how long a statement waits for a row that another holds
DATABASES = {
    "default": environment.database(
        "DATABASE_URL", VAR_DIR / "crux.sqlite3", is_pooled=DATABASE_POOLED
    )
}
if DATABASES["default"]["ENGINE"] == environment.SQLITE:
    # IMMEDIATE: a transaction that reads and then writes takes its lock at the start. With the
    # default it fails at once, without waiting, when another process wrote in between.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 120,  # seconds, of commands; requests are told sooner, see wsgi.py
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = False
    DATABASES["default"]["ENGINE"] = "crux_site.sqlite"
else:
    environment.complete_postgresql(
        DATABASES["default"], lock_timeout=LOCK_TIMEOUT, is_pooled=DATABASE_POOLED
    )
replica = environment.replica(
    "DATABASE_REPLICA_URL", DATABASES["default"], is_pooled=DATABASE_POOLED
)
if replica:
    environment.complete_postgresql(replica, lock_timeout=LOCK_TIMEOUT, is_pooled=DATABASE_POOLED)
    DATABASES["replica"] = replica
    DATABASE_ROUTERS = ["evaluation.data.replica.ReplicaRouter"]

# Reports of the results pages, each for one version of the data, in each process. Those of 5,000 topics
# are some 18 MB: few are kept. Each has two entries, see evaluation/data/cache.py.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 64},
    }
}

# Judge runs that are started in the browser or over the API are filled by `manage.py judge_worker`.
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["judging"]}}
# Who answers, by name: "local=http://127.0.0.1:8001/v1 big=https://gpu.example.org/v1". The key of one
# is in the environment too, as JUDGE_KEY_LOCAL, and nowhere else.
JUDGE_ENDPOINTS = environment.parse_pairs("JUDGE_ENDPOINTS")
# What they charge for a million tokens, read and written: "big=0.10/0.40/EUR".
JUDGE_PRICES = environment.parse_pairs("JUDGE_PRICES")
# What encrypts the keys that owners enter for their servers. Workers on other machines need the same.
JUDGE_SECRET_KEYS = environment.fernet_keys("JUDGE_SECRET_KEYS", VAR_DIR / "judge-secret-keys")
JUDGE_CA_BUNDLE = environment.readable_file("JUDGE_CA_BUNDLE")
# Of vLLM in process, such as {"tensor_parallel_size": 2, "max_model_len": 4096}.
JUDGE_VLLM_ARGS = environment.json_object("JUDGE_VLLM_ARGS")
JUDGE_LEASE_SECONDS = environment.whole_number("JUDGE_LEASE_SECONDS", 120)
# A program; where none is named, it is that of the extra `anserini`.
ANSERINI_JAVA = os.environ.get("ANSERINI_JAVA", "").strip()
# How the judging app learns of retrieval runs, which are another app's.
JUDGE_RANKINGS = "crux_site.rankings"
# Module of further tables of a paper: its page belongs to evaluation, and judges to another app.
PAPER_SUPPLEMENT = "crux_site.paper_supplement.tables"

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "annotation.User"
AUTHENTICATION_BACKENDS = ["crux_site.accounts.AccountBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
CSRF_FAILURE_VIEW = "crux_site.middleware.csrf_failure"

# Staff read English. What raters see is in the language of their campaign, where locale/ has it.
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = environment.time_zone("TIME_ZONE")
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "evaluation.plotly_file.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "crux_site.storage.StaticFiles"},
}
MEDIA_ROOT = VAR_DIR / "uploads"
# A folder of a study comes as one archive; what is larger goes through the command.
DATA_UPLOAD_MAX_NUMBER_FILES = 200
# The page that chooses columns has some 40 fields for each table, and a few for each of 300 columns.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
IMPORT_MAX_MEGABYTES = environment.whole_number("IMPORT_MAX_MEGABYTES", 4000)
IMPORT_MAX_FILES = environment.whole_number("IMPORT_MAX_FILES", 200_000)

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
SESSION_ENGINE = "crux_site.login.session_store"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# A host that begins with a dot means all below it; an origin writes that as a star.
CSRF_TRUSTED_ORIGINS = [
    f"https://{'*' if host.startswith('.') else ''}{host}" for host in ALLOWED_HOSTS if HTTPS
]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 30 if HTTPS else 0
X_FRAME_OPTIONS = "DENY"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "crux_site.logs.OneLineFormatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    # The server's own words, in its workers; those of its first process have its own form.
    "loggers": {"_granian": {"handlers": ["console"], "propagate": False}},
}

# Wrong log-ins, which all processes count together: in a table that `migrate` makes.
CACHES["log-ins"] = {
    "BACKEND": "django.core.cache.backends.db.DatabaseCache",
    "LOCATION": "crux_site_log_ins",
    "OPTIONS": {"MAX_ENTRIES": 20_000},
}
# Requests to the API by minute, of one account and of one address that is not logged in, and those that
# open a study. On SQLite they are counted in each process, apart from the results, which they would push
# out of their cache; on PostgreSQL in a table.
API_PER_MINUTE = environment.whole_number("API_PER_MINUTE", 600)
ARRIVALS_PER_MINUTE = environment.whole_number("ARRIVALS_PER_MINUTE", 120)
CACHES["api"] = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "LOCATION": "api",
    "OPTIONS": {"MAX_ENTRIES": 10_000},
}
# How long pages of results took in this process, apart from the results for the same reason.
CACHES["durations"] = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "LOCATION": "durations",
    "OPTIONS": {"MAX_ENTRIES": 10_000},
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.access.HashedTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotation.api.access.IsResearcher"],
    "DEFAULT_PARSER_CLASSES": ["annotation.api.parsing.ShallowJSON"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "annotation.api.schema.Schema",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_THROTTLE_CLASSES": [
        "annotation.api.access.AccountThrottle",
        "annotation.api.access.AnonymousThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "user": f"{API_PER_MINUTE}/min",
        "anon": f"{max(1, API_PER_MINUTE // 10)}/min",
        "arrivals": f"{ARRIVALS_PER_MINUTE}/min",
        "messages": "10/hour",  # of one worker to the researchers
    },
    "EXCEPTION_HANDLER": "annotation.api.errors.handle_exception",
    "NUM_PROXIES": 1 if HTTPS else 0,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Crux workbench",
    "DESCRIPTION": (
        "Test collections, retrieval runs, ratings and judge runs, as JSON.\n\n"
        "Send a token in the header `Authorization: Token ...`, or use the session of the browser. "
        "Researchers and admins read; admins alone change anything, but for tables, which owners of a project "
        "import into its datasets. Whatever is refused is answered "
        "with a sentence in `detail`, and with each error and its place in `errors`."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["annotation.api.access.IsResearcher"],
    "ENUM_NAME_OVERRIDES": {
        "TextKind": "annotation.models.Text.Kind",
        "RaterKind": "annotation.models.Rater.Kind",
        "SpanLocated": "annotation.models.NuggetSpan.Located",
    },
}
