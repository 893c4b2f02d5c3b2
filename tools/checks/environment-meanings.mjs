/** What each variable does, for the page; the form, the default and the readers come from the code. */
export const MEANINGS = {
  BERTH_ALLOW_UNISOLATED: 'Listen on all addresses although agents share the machine (process driver).',
  BERTH_API_KEY: 'The key the command line uses; else the bootstrap key of the data folder.',
  BERTH_BOOTSTRAP_KEY_FILE: 'Where the first start leaves the first key.',
  BERTH_DATA: 'The data folder.',
  BERTH_HOST:
    'The address the gateway listens on; by default 127.0.0.1 under the process driver, else 0.0.0.0.',
  BERTH_LOG_LEVEL: 'How much is logged.',
  BERTH_MESSAGES_PER_MINUTE: 'Messages an agent takes in a minute; beyond it 429.',
  BERTH_METRICS_PORT: 'Port on 127.0.0.1 that serves `/metrics`.',
  BERTH_PARENT_WATCH: 'End with the process that started this one. Set by `npm start`.',
  BERTH_RUNTIME: 'The driver that runs agents.',
  BERTH_SECRET_KEY:
    'Keyring that seals secrets at rest: `id:base64 of 32 bytes`, several with commas, the current one first. `npm start` draws one into the data folder.',
  BERTH_SHIPPED_TEMPLATES_DIR: 'Folder of the templates that come with Berth.',
  BERTH_TEMPLATES_DIR: "Folder of the operator's own templates.",
  BERTH_URL: 'Where the command line finds Berth.',
  BERTH_WARM_SLEEP_SECONDS: 'How long an agent sleeps warm before it goes cold; 0 goes cold at once.',
  DATABASE_URL: 'PostgreSQL, `postgres://…`. Under `npm start` unset means embedded.',
  EVENTSTORE_URL: 'The event log, `esdb://…`. Under `npm start` unset means embedded.',
  NATS_URL: 'The broker, `nats://user:password@host:port`. Under `npm start` unset means embedded.',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Collector for traces and metrics, OTLP over HTTP.',
  PORT: 'The port of the HTTP interface.',
};
