/** The meaning of each variable for docs/environment.md; the form, the default and the readers come from the code. */
export const MEANINGS = {
  BERTH_AGENT_UID_BASE:
    'The first user id for agents, if Berth runs as root; by default the start of an unused range.',
  BERTH_AGENT_VOLUMES:
    'The folder of the volumes if the runtime is root and has no mount namespaces; by default below /var/lib/berth.',
  BERTH_ALLOWED_ORIGINS:
    'The origins whose pages may call the routes for end users in a browser, separated by commas, for example `https://app.example.com`; `*` allows all. By default none.',
  BERTH_ALLOW_UNISOLATED:
    'Listen on all addresses although agents are not isolated from the machine (process driver).',
  BERTH_API_KEY: 'The key that the command line uses; by default the bootstrap key of the data folder.',
  BERTH_APPS_HOST:
    'The host below which the app of each agent has its own, with a port if the URL needs one; by default `apps.localhost` with the port of the gateway. It must not be a parent of the host of `BERTH_PUBLIC_URL`.',
  BERTH_BOOTSTRAP_KEY_FILE: 'The file to which the first start writes the first key.',
  BERTH_BUILD_SECONDS: 'The time that fetching and building a version may take.',
  BERTH_CLIENT_TIMEOUT_SECONDS:
    'The time after which a client is disconnected that neither sends the rest of its body nor reads its response.',
  BERTH_CONFIG:
    "The operator's file (YAML), see [operations](operations.md#the-operators-file); by default `berth.yaml` in the data folder, if it exists.",
  BERTH_CRASH_LIMIT: 'An agent is `failed` when its program has exited this many times within the window.',
  BERTH_CRASH_WINDOW_SECONDS: 'The time window of `BERTH_CRASH_LIMIT`.',
  BERTH_DATA: 'The data folder.',
  BERTH_DATABASE_POOL:
    'The maximum number of pooled PostgreSQL connections of one service process; the process that does the exclusive work of its service keeps one more.',
  BERTH_DATA_CA:
    'The file (PEM) with the authority that the `https` data ports of hosts are verified against; without it they are refused. `npm start` uses that of its data folder.',
  BERTH_DATA_CERT:
    'The file (PEM) with the certificate with which a runtime serves transfers over TLS; needs `BERTH_DATA_KEY`. By default the port speaks plain HTTP.',
  BERTH_DATA_HOST:
    'The address on which a runtime serves transfers between gateways and its agents: files, output, consoles.',
  BERTH_DATA_KEY: 'The file (PEM) with the private key of `BERTH_DATA_CERT`.',
  BERTH_DATA_PORT: 'The port of `BERTH_DATA_HOST`; 0 chooses a free one.',
  BERTH_DATA_URL:
    'The URL under which gateways reach this port; by default `http://`, or `https://` with a certificate, with that address and port.',
  BERTH_LLM_HOST: 'The address on which `llm` serves the LLM calls that gateways pass on.',
  BERTH_LLM_PORT: 'The port of `BERTH_LLM_HOST`; 0 chooses a free one.',
  BERTH_LLM_URL:
    'The URL under which gateways reach this port; by default `http://` with that address and port.',
  BERTH_DISK_OVERCOMMIT:
    'How many times the disk that is free or in volumes may be promised to the volumes of agents in containers; beyond it no agent is created.',
  BERTH_DRAIN_SECONDS: 'How long a deploy waits for the calls in flight of a service that it replaces.',
  BERTH_EVENT_STORE_FILE: 'The database file of the embedded event store when it runs as a separate process.',
  BERTH_EVENT_STORE_PORT: 'The port of the embedded event store in that case; 0 chooses a free one.',
  BERTH_GATEWAY_URL: 'The URL of the API for agents, as seen from the host that runs them.',
  BERTH_GUEST_MAIN: "The guest's main file; by default the one of this checkout.",
  BERTH_HOST:
    'The address that the gateway listens on; by default 127.0.0.1 under the process driver, otherwise 0.0.0.0.',
  BERTH_HOST_NAME: "The name of a runtime's host for operators; by default the name of the machine.",
  BERTH_HOST_ID:
    "The id of a runtime's host (`hst_…`). Needed if its NATS user is limited to that id; by default the first start generates one.",
  BERTH_BROKER_ADDRESS:
    'Where runtimes on other machines reach the broker: the address in what `berth hosts add` prints. By default that of `NATS_URL`.',
  BERTH_BROKER_FOLDER:
    'The folder of the users that `berth hosts add` gives to hosts, if the broker is not embedded. The compose file sets it.',
  BERTH_NATS_HOST:
    'The address that the embedded broker listens on. Set an address of a private network so that runtimes on other machines can join.',
  BERTH_INSTANCE:
    'The name of this installation on the broker: 1 to 32 letters, digits, hyphens and underscores. Installations that share a broker need different names.',
  BERTH_LOG_LEVEL: 'The log level.',
  BERTH_MAX_CONNECTIONS:
    'The maximum number of open connections of the gateway; by default three tenths of the descriptors of the process, at most 10,000.',
  BERTH_END_USER_REQUESTS_PER_MINUTE:
    'The number of requests that an end user may send in 60 seconds, with all its tokens; beyond it 429.',
  BERTH_MESSAGES_PER_MINUTE: 'The number of messages per minute to one agent; beyond it 429.',
  BERTH_METRICS_PORT: 'The port on 127.0.0.1 that serves `/metrics`.',
  BERTH_PARENT_WATCH: 'Exit when the parent process exits. Set by `npm start`.',
  BERTH_NERDCTL: 'The program `nerdctl`, as a name on the PATH or a path.',
  BERTH_PUBLIC_URL:
    'The URL under which callers reach Berth, without a path; with `https`, the apps below `BERTH_APPS_HOST` are reached over TLS too.',
  BERTH_REQUIRE_WEBHOOK_TOKENS: 'Refuses invokes of webhooks without a token.',
  BERTH_RUNTIME:
    'The driver that runs agents: `process` runs them as plain processes of the host, `nerdctl` each in a container of its own.',
  BERTH_RUNTIME_DATA: 'The folder of the volumes, logs and records of a runtime.',
  BERTH_SECRET_KEY:
    'The keyring that seals secrets at rest: `id:base64 of 32 bytes`, several separated by commas, the current one first. `npm start` generates one in the data folder.',
  BERTH_SHIPPED_TEMPLATES_DIR: 'The folder of the templates that ship with Berth.',
  BERTH_START_ATTEMPTS:
    'A start fails after the program has exited this many times before it served requests.',
  BERTH_TEMPLATES_DIR: "The folder of the operator's own templates.",
  BERTH_TRUSTED_PROXIES:
    'The proxies in front of the gateway, as addresses and networks separated by commas; their `X-Forwarded-For` is believed.',
  BERTH_URL: 'The URL of Berth for the command line.',
  BERTH_VIEWER_PORT:
    'The port of the viewers of computers, whose pages need an origin of their own; 0 picks a free one. With `BERTH_APPS_HOST` they are at `viewer` below that host instead.',
  BERTH_WARM_SLEEP_SECONDS: 'The time an agent sleeps warm before it goes cold; 0 means immediately.',
  CNI_PATH: 'The folder of the CNI plugins; by default the usual ones.',
  CONTAINERD_SNAPSHOTTER: "containerd's snapshotter, for nerdctl.",
  CONTAINERD_ADDRESS: 'The socket of containerd; by default `/run/containerd/containerd.sock`.',
  DATABASE_URL: 'PostgreSQL, `postgres://…`. If unset, `npm start` uses the embedded one.',
  EVENTSTORE_URL: 'The event log, `esdb://…`. If unset, `npm start` uses the embedded one.',
  GIT_SSL_CAINFO:
    'A file of certificates that git trusts instead of those of the system when it fetches repositories.',
  NATS_REPLICAS:
    'The number of replicas of each stream, including existing streams; by default 3 in a cluster of three or more servers, otherwise 1.',
  NATS_CA: "Path of the CA certificates that sign the broker's certificate.",
  NATS_CERT: 'Path of the client certificate for the broker; needs `NATS_KEY`.',
  NATS_CREDS: 'Path of a `.creds` file: a user JWT and the seed of its nkey.',
  NATS_KEY: 'Path of the private key of `NATS_CERT`.',
  NATS_NKEY: 'Path of a file that contains the seed of a user nkey.',
  NERDCTL_TOML: "Path of nerdctl's configuration; by default `/etc/nerdctl/nerdctl.toml`.",
  NATS_URL: 'The broker, `nats://user:password@host:port`. If unset, `npm start` uses the embedded one.',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'The collector for traces and metrics, OTLP over HTTP.',
  PORT: 'The port of the HTTP interface.',
};
