import { join } from 'node:path';
import { readEnv, type Env, type PartUrlName, type RuntimeDriver } from '@berth/config';
import { readHostMeans, type HostMeans } from '@berth/host-requirements';
import { readOperatorSettings } from '@berth/operator-file';

/** A port that Berth would listen on, and the variable that sets it. */
export interface WantedPort {
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

/** The settings with which Berth would start in this environment. */
export interface DoctorSettings {
  readonly driver: RuntimeDriver;
  readonly means: HostMeans;
  readonly ports: readonly WantedPort[];
  /** Folders that Berth writes to, by the variable that sets them. */
  readonly folders: readonly { readonly variable: string; readonly path: string }[];
  /** Parts that run elsewhere. */
  readonly parts: readonly { readonly variable: PartUrlName; readonly url: string }[];
  /** The URL of Berth if it runs. */
  readonly url: string;
  /** Whether the operator says that it runs. */
  readonly mustRun: boolean;
}

const LOOPBACK = '127.0.0.1';
const PARTS = ['NATS_URL', 'EVENTSTORE_URL', 'DATABASE_URL'] as const;

/**
 * Reads the variables that `npm start` reads, and BERTH_URL. Throws `ConfigError` with every problem, also of the
 * operator's file.
 */
export const readDoctorSettings = (env: Env): DoctorSettings => {
  const reader = readEnv(env);
  const port = reader.integer('PORT', { default: 8080, max: 65_535 });
  const data = reader.path('BERTH_DATA', '.data');
  const url = reader.optionalUrl('BERTH_URL', ['http', 'https']);
  const metrics = reader.optionalInteger('BERTH_METRICS_PORT', { min: 1, max: 65_535 });
  const transfers = reader.integer('BERTH_DATA_PORT', { default: 0, max: 65_535 });
  const parts = PARTS.map((variable) => ({ variable, url: reader.optionalPartUrl(variable) }));
  const [broker] = parts;
  if (broker?.url !== undefined) reader.brokerCredentials(broker.url);
  const { class: runtimeClass, subidUser } = readOperatorSettings(reader).current.runtime;
  return reader.done({
    driver: reader.runtimeDriver(),
    means: readHostMeans(reader, { runtimeClass, subidUser }),
    ports: [
      { variable: 'PORT', host: LOOPBACK, port },
      { variable: 'BERTH_METRICS_PORT', host: LOOPBACK, port: metrics ?? 0 },
      { variable: 'BERTH_DATA_PORT', host: reader.string('BERTH_DATA_HOST', LOOPBACK), port: transfers },
    ].filter((wanted) => wanted.port !== 0),
    folders: [
      { variable: 'BERTH_DATA', path: data },
      { variable: 'BERTH_RUNTIME_DATA', path: reader.path('BERTH_RUNTIME_DATA', join(data, 'runtime')) },
    ],
    parts: parts.flatMap((part) => (part.url === undefined ? [] : [{ ...part, url: part.url }])),
    url: (url ?? `http://localhost:${port}`).replace(/\/+$/, ''),
    mustRun: url !== undefined,
  });
};
