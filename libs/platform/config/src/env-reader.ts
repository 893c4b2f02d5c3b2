import { resolve } from 'node:path';
import { readBrokerCredentials, type BrokerCredentials } from './broker-credentials.js';
import { ConfigError } from './config-error.js';
import { PART_URL_CHECKS, type PartUrlName } from './part-urls.js';

/** The shape of `process.env`. */
export interface Env {
  readonly [key: string]: string | undefined;
}

/** Bounds of an integer variable; `min` defaults to 0, `max` to the largest safe integer. */
export interface IntegerRange {
  readonly min?: number;
  readonly max?: number;
}

/** pino's log levels, from most to least verbose. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The drivers that can run agents; `nerdctl` isolates them in containers. */
export type RuntimeDriver = 'process' | 'nerdctl';

/** How a service reaches the broker, and the name of the installation there. */
export abstract class BrokerEnv {
  abstract readonly natsUrl: string;
  abstract readonly natsCredentials?: BrokerCredentials;
  abstract readonly instance: string;
  /** How many servers of the broker store each message; undefined: 3 in a cluster of three or more, else 1. */
  abstract readonly natsReplicas?: number | undefined;
}

/**
 * The variables that every service reads. Telemetry endpoints that are not set are switched off. A service extends it,
 * and providers inject its configuration by that class.
 */
export abstract class ServiceEnv extends BrokerEnv {
  abstract readonly eventStoreUrl: string;
  abstract readonly databaseUrl: string;
  /** Maximum size of the connection pool of one process. */
  abstract readonly databasePool: number;
  abstract readonly logLevel: LogLevel;
  abstract readonly otlpEndpoint: string | undefined;
  abstract readonly metricsPort: number | undefined;
}

const INSTANCE = /^[A-Za-z0-9_-]{1,32}$/;
const TRUE = new Set(['1', 'true', 'yes', 'on']);
const FALSE = new Set(['0', 'false', 'no', 'off']);

/**
 * Reads and validates variables. For a missing or invalid one it records the problem and returns a placeholder, so that
 * `done` can report all of them together. An empty variable counts as unset. Values never appear in messages: they may
 * be secrets.
 */
export class EnvReader {
  private readonly problems: string[] = [];

  constructor(private readonly env: Env) {}

  /** A non-empty string; required unless a default is given. */
  string(name: string, fallback?: string): string {
    return this.optional(name) ?? fallback ?? this.missing(name, '');
  }

  /** A string, or undefined when unset. */
  optional(name: string): string | undefined {
    const value = this.env[name];
    return value === undefined || value.trim() === '' ? undefined : value;
  }

  /** An integer in decimal digits; required unless a default is given. */
  integer(name: string, options: IntegerRange & { readonly default?: number } = {}): number {
    return this.optionalInteger(name, options) ?? options.default ?? this.missing(name, 0);
  }

  /** Like `integer`, undefined when unset. */
  optionalInteger(name: string, range: IntegerRange = {}): number | undefined {
    const text = this.optional(name)?.trim();
    if (text === undefined) return undefined;
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = range;
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    return this.bad(name, `must be a whole number from ${min} to ${max}`, min);
  }

  /** 1, true, yes, on or 0, false, no, off. */
  boolean(name: string, fallback: boolean): boolean {
    const text = this.optional(name)?.trim().toLowerCase();
    if (text === undefined) return fallback;
    if (TRUE.has(text)) return true;
    if (FALSE.has(text)) return false;
    return this.bad(name, 'must be true or false', fallback);
  }

  /**
   * An absolute URL with a host; `schemes` restricts the scheme (`['http', 'https']`). Required unless a default is
   * given.
   */
  url(name: string, fallback?: string, schemes?: readonly string[]): string {
    return this.optionalUrl(name, schemes) ?? fallback ?? this.missing(name, '');
  }

  /** Like `url`, undefined when unset. */
  optionalUrl(name: string, schemes?: readonly string[]): string | undefined {
    const text = this.optional(name)?.trim();
    if (text === undefined) return undefined;
    const wanted = schemes === undefined ? 'a URL' : `a URL that begins with ${schemes.join(':// or ')}://`;
    const matches = /^([a-z][a-z0-9+.-]*):\/\/[^/?#\s]+\S*$/i.exec(text);
    const scheme = matches?.[1]?.toLowerCase();
    if (scheme !== undefined && (schemes === undefined || schemes.includes(scheme))) return text;
    return this.bad(name, `must be ${wanted}`, '');
  }

  /** The URL of a backing service, fully validated; required. */
  partUrl(name: PartUrlName): string {
    return this.optionalPartUrl(name) ?? this.missing(name, '');
  }

  /** Like `partUrl`, undefined when unset. */
  optionalPartUrl(name: PartUrlName): string | undefined {
    const text = this.optional(name)?.trim();
    if (text === undefined) return undefined;
    const problem = PART_URL_CHECKS[name](text);
    return problem === undefined ? text : this.bad(name, problem, '');
  }

  /** A file system path, resolved against the working directory. Required unless a default is given. */
  path(name: string, fallback?: string): string {
    const text = this.optional(name) ?? fallback ?? this.missing(name, '.');
    if (text.includes('\0')) return this.bad(name, 'must be a path without NUL bytes', '.');
    return resolve(text);
  }

  /** One of `values`; required unless a default is given. */
  oneOf<const Value extends string>(
    name: string,
    values: readonly [Value, ...Value[]],
    fallback?: NoInfer<Value>,
  ): Value {
    const text = this.optional(name)?.trim();
    if (text === undefined) return fallback ?? this.missing(name, values[0]);
    const known = values.find((value) => value === text);
    return known ?? this.bad(name, `must be one of ${values.join(', ')}`, values[0]);
  }

  /** NATS_CREDS, NATS_NKEY, NATS_CA, NATS_CERT, NATS_KEY: file paths. */
  brokerCredentials(natsUrl: string | undefined): BrokerCredentials {
    return readBrokerCredentials(this, natsUrl);
  }

  /** NATS_URL and the credential files, BERTH_INSTANCE (default `berth`), NATS_REPLICAS. */
  brokerEnv(): BrokerEnv {
    const instance = this.string('BERTH_INSTANCE', 'berth');
    if (!INSTANCE.test(instance))
      this.problem('BERTH_INSTANCE', 'must be 1 to 32 letters, digits, hyphens and underscores');
    const natsReplicas = this.optionalInteger('NATS_REPLICAS', { min: 1, max: 5 });
    const natsUrl = this.partUrl('NATS_URL');
    return { natsUrl, natsCredentials: this.brokerCredentials(natsUrl), instance, natsReplicas };
  }

  /**
   * The variables of `brokerEnv`, and EVENTSTORE_URL, DATABASE_URL, BERTH_DATABASE_POOL (3), BERTH_LOG_LEVEL,
   * OTEL_EXPORTER_OTLP_ENDPOINT, BERTH_METRICS_PORT.
   */
  serviceEnv(): ServiceEnv {
    return {
      ...this.brokerEnv(),
      eventStoreUrl: this.partUrl('EVENTSTORE_URL'),
      databaseUrl: this.partUrl('DATABASE_URL'),
      // A handler may read outside of its own transaction, so one connection is not enough.
      databasePool: this.integer('BERTH_DATABASE_POOL', { default: 3, min: 2, max: 100 }),
      logLevel: this.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'info'),
      otlpEndpoint: this.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']),
      metricsPort: this.optionalInteger('BERTH_METRICS_PORT', { min: 1, max: 65_535 }),
    };
  }

  /** BERTH_RUNTIME (`process`): the driver that runs agents. */
  runtimeDriver(): RuntimeDriver {
    return this.oneOf('BERTH_RUNTIME', ['process', 'nerdctl'], 'process');
  }

  /** Records a problem that the caller's own validation found. */
  problem(name: string, what: string): void {
    this.problems.push(`${name} ${what}`);
  }

  /** Throws `ConfigError` with every recorded problem; otherwise returns `config`. */
  done<Config = void>(config?: Config): Config {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
    return config as Config;
  }

  private missing<Placeholder>(name: string, placeholder: Placeholder): Placeholder {
    return this.bad(name, 'is not set', placeholder);
  }

  private bad<Placeholder>(name: string, what: string, placeholder: Placeholder): Placeholder {
    this.problem(name, what);
    return placeholder;
  }
}

/** Starts reading `env`: read every variable, then call `done`. */
export const readEnv = (env: Env): EnvReader => new EnvReader(env);
