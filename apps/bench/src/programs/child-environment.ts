export type Environment = Readonly<Record<string, string | undefined>>;

const BERTH_VARIABLES = /^(BERTH_.*|NATS_URL|EVENTSTORE_URL|DATABASE_URL|OTEL_.*|PORT)$/;

/** The environment without variables that would direct a Berth of ours to other parts or another data folder. */
export const childEnvironment = (env: Environment, own: Environment): Record<string, string> => {
  const kept = Object.entries(env).filter(([name]) => !BERTH_VARIABLES.test(name));
  return Object.fromEntries(
    [...kept, ...Object.entries(own)].flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
};
