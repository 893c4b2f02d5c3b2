const ORPHANS = 'libs/embedded/src/supervision/orphans.ts';
const LEFT_BEHIND = 'libs/embedded/src/left-behind.int-spec.ts';

/**
 * What a whole installation promises, part 1 to 5 of eleven; the others are in `installations.breaks.mjs`. Most of it breaks
 * in one place that a test of one package sees; for the rest, only a whole installation can fail.
 */
export const WHOLE = [
  // 1. SIGTERM, Ctrl-C, kill -9 at any point: no process is left, no acknowledged write is lost.
  {
    guarantee: 'The parts of an installation end with it, even on kill -9.',
    file: 'libs/embedded/src/supervision/die-with-parent.ts',
    find: "deathSignal.replace(/^SIG/, '')",
    replace: "deathSignal.replace(/^SIG.*/, 'CONT')",
    test: LEFT_BEHIND,
    title: 'end with their parent, even on kill -9',
  },
  {
    guarantee: 'The next start ends what a killed run has left.',
    file: ORPHANS,
    find: 'await endProcess(orphan, steps);',
    replace: 'if (steps.length === 0) await endProcess(orphan, steps);',
    test: LEFT_BEHIND,
    title: 'are ended by the next start if they outlived their parent',
  },
  {
    guarantee: 'The broker acknowledges what is on disk.',
    file: 'libs/embedded/src/nats/nats-config.ts',
    find: "...(syncsBeforeAck ? ['  sync_interval: always'] : []),",
    replace: '...(syncsBeforeAck ? [] : []),',
    test: 'libs/embedded/src/nats/nats-config.spec.ts',
    title: 'syncs to disk before it acknowledges, where the server can',
  },
  {
    guarantee: 'PostgreSQL acknowledges what is on disk.',
    file: 'libs/embedded/src/postgres/postgres-part.ts',
    find: "synchronous_commit: 'on',",
    replace: "synchronous_commit: 'off',",
    test: 'libs/embedded/src/start-embedded.int-spec.ts',
    title: 'flushes commits to disk and accepts enough connections',
  },
  {
    guarantee: 'A service that is asked to stop, stops, and its agents end with their host.',
    file: 'libs/platform/service/src/run-main.ts',
    find: "process.on('SIGTERM', () => stop('SIGTERM'));",
    replace: "process.on('SIGTERM', () => undefined);",
    test: 'libs/platform/service/src/run-main.int-spec.ts',
    title: 'stops the service at %s although a library ends processes that do not listen for it',
  },
  {
    guarantee: 'Ctrl-C signals the program and none of its parts.',
    file: 'libs/embedded/src/supervision/supervised-process.ts',
    find: 'detached: true,',
    replace: 'detached: false,',
    test: 'apps/standalone/src/e2e/start-and-end.e2e-spec.ts',
    title: 'signals the program but none of its parts, and ends everything as SIGTERM does',
    lane: 'e2e',
  },
  // 2. Each part killed and frozen: answers within 5 s, recovery within 30 s.
  {
    guarantee: 'A request to a frozen service fails in time.',
    file: 'libs/platform/messaging/src/pending-requests.ts',
    find: 'export const SILENCE_MS = 3_500;',
    replace: 'export const SILENCE_MS = 8_500;',
    test: 'libs/platform/messaging/src/outages.int-spec.ts',
    title: 'a request whose handler is frozen after some heartbeats fails 3.5 s later',
  },
  {
    guarantee: 'A frozen broker is detected in time.',
    file: 'libs/platform/messaging/src/nats-link.ts',
    find: 'const PING_INTERVAL_MS = 1_000;',
    replace: 'const PING_INTERVAL_MS = 10_000;',
    test: 'libs/platform/messaging/src/outages.int-spec.ts',
    title: 'a frozen broker is detected within 4 s, and requests work again when it thaws',
  },
  {
    guarantee: 'A frozen database makes every call fail in time.',
    file: 'libs/platform/persistence/src/connection-options.ts',
    find: 'export const CALL_BUDGET_MS = 4_000;',
    replace: 'export const CALL_BUDGET_MS = 9_000;',
    test: 'libs/platform/persistence/src/database.int-spec.ts',
    title: 'that freezes makes every call fail within four seconds, and is used again when it thaws',
  },
  {
    guarantee: 'A frozen log makes every call fail in time.',
    file: 'libs/platform/event-store/src/esdb-timeouts.ts',
    find: 'const BUDGET_MS = 4_000;',
    replace: 'const BUDGET_MS = 9_000;',
    test: 'libs/platform/event-store/src/esdb-event-store.int-spec.ts',
    title: 'because it is frozen makes calls fail within five seconds, and is used again when it thaws',
  },
  {
    guarantee: 'What was answered 503 is not begun later.',
    file: 'libs/platform/messaging/src/sender-clocks.ts',
    find: 'const offset = askedAt - senderNow;',
    replace: 'const offset = now - senderNow;',
    test: 'libs/platform/messaging/src/sender-clocks.spec.ts',
    title: 'is never underestimated, however long the question took',
  },
  // 3. Two gateways and two instances of each service agree.
  {
    guarantee: 'Two gateways agree on a request that is in progress under an Idempotency-Key.',
    file: 'apps/gateway/src/idempotency/idempotent-responses.ts',
    find: 'AND (held.leased_until IS NULL OR held.leased_until <= now())',
    replace: 'AND true',
    test: 'apps/gateway/src/idempotency/idempotency.int-spec.ts',
    title: 'a second is 409, also on another gateway and after the first client has disconnected',
  },
  {
    guarantee: 'Two processes that decide at once decide one after the other.',
    file: 'libs/platform/event-store/src/event-streams.ts',
    find: 'if (!(handled instanceof RevisionConflict)) return handled;',
    replace:
      'if (!(handled instanceof RevisionConflict) || conflicts > 0) return handled as Handled<State, Event>;',
    test: 'libs/platform/event-store/src/event-streams.int-spec.ts',
    title: 'are all executed, in one process or in several',
  },
  // 4. Every service starts from its own program and environment.
  {
    guarantee: 'A service with an invalid environment exits with 78 and one line.',
    file: 'libs/platform/service/src/run-main.ts',
    find: 'process.exit(EXIT_CONFIG);',
    replace: 'process.exit(EXIT_CONFIG - 77);',
    test: 'apps/runtime/src/driver/unknown-driver.int-spec.ts',
    title: 'exits with 78 and one line that lists the known drivers, and creates nothing',
  },
  {
    guarantee: 'A service names every missing or invalid variable at once.',
    file: 'libs/platform/config/src/env-reader.ts',
    find: 'if (this.problems.length > 0) throw new ConfigError(this.problems);',
    replace: 'if (this.problems.length > 0) throw new ConfigError(this.problems.slice(0, 1));',
    test: 'libs/platform/config/src/env-reader.spec.ts',
    title: 'names every missing or invalid variable at once',
  },
  // 5. One service killed: takeover, interrupted creation, suspension race.
  {
    guarantee: 'Work whose process has lost its lock stops, and passes to another.',
    file: 'libs/platform/persistence/src/advisory-lock.ts',
    find: 'const result = await work(AbortSignal.any([signal, lock.lost]));',
    replace: 'const result = await work(signal);',
    test: 'libs/platform/persistence/src/advisory-lock.int-spec.ts',
    title: 'that is lost with its connection stops the work and passes to another process',
  },
  {
    guarantee: 'A start that a suspension overtook is broken off.',
    file: 'apps/agents/src/agent/agent-lifecycle.ts',
    find: 'if (await this.isSuspended(agent)) return await this.breakOffSuspended(agent);',
    replace:
      "if (agentId === '' && (await this.isSuspended(agent))) return await this.breakOffSuspended(agent);",
    test: 'apps/agents/src/agent/agent-lifecycle.spec.ts',
    title: 'is broken off instead of confirmed if a suspension began in the meantime',
  },
];
