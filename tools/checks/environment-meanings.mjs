/** What each variable does, for the page; the form, the default and the readers come from the code. */
export const MEANINGS = {
  BERTH_AGENT_UID_BASE:
    'First of the users that agents run as, where Berth is root; by default a range that nobody else uses.',
  BERTH_AGENT_VOLUMES:
    'Where volumes lie on a host that is root and has no mount namespaces; by default below /var/lib/berth.',
  BERTH_ALLOW_UNISOLATED: 'Listen on all addresses although agents share the machine (process driver).',
  BERTH_API_KEY: 'The key the command line uses; else the bootstrap key of the data folder.',
  BERTH_BOOTSTRAP_KEY_FILE: 'Where the first start leaves the first key.',
  BERTH_CLIENT_TIMEOUT_SECONDS:
    'A client that neither sends what it has announced nor takes what it is sent for so long is cut.',
  BERTH_CRASH_LIMIT: 'After so many deaths of its program within the window an agent is `failed`.',
  BERTH_CRASH_WINDOW_SECONDS: 'The window for `BERTH_CRASH_LIMIT`.',
  BERTH_DATA: 'The data folder.',
  BERTH_DATA_HOST:
    'The address a runtime listens on for bytes between gateways and its agents: files, output, consoles.',
  BERTH_DATA_PORT: 'Its port; 0 takes a free one.',
  BERTH_DATA_URL: 'What gateways reach it by; by default `http://` with that address and port.',
  BERTH_EVENT_STORE_FILE: 'The database file of the embedded event store, when it runs on its own.',
  BERTH_EVENT_STORE_PORT: 'Its port; 0 takes a free one.',
  BERTH_GATEWAY_URL: 'Where agents reach the API, seen from the host that runs them.',
  BERTH_GUEST_MAIN: "The guest's main file; by default the one of this checkout.",
  BERTH_HOST:
    'The address the gateway listens on; by default 127.0.0.1 under the process driver, else 0.0.0.0.',
  BERTH_HOST_ID:
    "The id of a runtime's host (`hst_…`), where its NATS user is limited to it; by default one is made on the first start.",
  BERTH_INSTANCE:
    'Name of this installation on the broker: 1 to 32 letters, digits, hyphens and underscores. Installations that share a broker need different names.',
  BERTH_LOG_LEVEL: 'How much is logged.',
  BERTH_MAX_CONNECTIONS:
    'Connections the gateway holds at once; by default half of what the process may open, at most 10,000.',
  BERTH_MESSAGES_PER_MINUTE: 'Messages an agent takes in a minute; beyond it 429.',
  BERTH_METRICS_PORT: 'Port on 127.0.0.1 that serves `/metrics`.',
  BERTH_PARENT_WATCH: 'End with the process that started this one. Set by `npm start`.',
  BERTH_RUNTIME: 'The driver that runs agents.',
  BERTH_RUNTIME_DATA: 'Where a runtime keeps volumes, logs and records of its agents.',
  BERTH_SECRET_KEY:
    'Keyring that seals secrets at rest: `id:base64 of 32 bytes`, several with commas, the current one first. `npm start` draws one into the data folder.',
  BERTH_SHIPPED_TEMPLATES_DIR: 'Folder of the templates that come with Berth.',
  BERTH_START_ATTEMPTS: 'A program that dies so often before it ever served is given up.',
  BERTH_TEMPLATES_DIR: "Folder of the operator's own templates.",
  BERTH_URL: 'Where the command line finds Berth.',
  BERTH_WARM_SLEEP_SECONDS: 'How long an agent sleeps warm before it goes cold; 0 goes cold at once.',
  DATABASE_URL: 'PostgreSQL, `postgres://…`. Under `npm start` unset means embedded.',
  EVENTSTORE_URL: 'The event log, `esdb://…`. Under `npm start` unset means embedded.',
  NATS_REPLICAS:
    'How many servers of the broker hold each message of a stream, existing streams included; unset means 3 in a cluster of three or more, else 1.',
  NATS_CA: 'Path of the certificates of the authorities that may have signed the certificate of the broker.',
  NATS_CERT: 'Path of the certificate that Berth shows to the broker; with `NATS_KEY`.',
  NATS_CREDS: 'Path of a `.creds` file: a user JWT and the seed of its nkey.',
  NATS_KEY: 'Path of the key of `NATS_CERT`.',
  NATS_NKEY: 'Path of a file with the seed of a user nkey.',
  NATS_URL: 'The broker, `nats://user:password@host:port`. Under `npm start` unset means embedded.',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Collector for traces and metrics, OTLP over HTTP.',
  PORT: 'The port of the HTTP interface.',
};
