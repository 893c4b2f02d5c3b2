/** A machine that is to have desktops. */
export interface DesktopMachine {
  /** The Debian packages that it lacks. */
  readonly missing: readonly string[];
  /** `ID` and `ID_LIKE` of os-release(5). */
  readonly systems: readonly string[];
  readonly hasAptGet: boolean;
  readonly isRoot: boolean;
}

export type SetupStep =
  /** Programs to run, one after the other. */
  | { readonly kind: 'run'; readonly commands: readonly (readonly string[])[] }
  /** What the reader has to do. */
  | { readonly kind: 'tell'; readonly text: string };

/** What has to be done for the software of desktops; undefined: nothing. */
export const planDesktopSetup = (machine: DesktopMachine): SetupStep | undefined => {
  const { missing, isRoot } = machine;
  if (missing.length === 0) return undefined;
  if (!isDebian(machine))
    return {
      kind: 'tell',
      text: `This command installs on Debian and Ubuntu only. Install what these packages of Debian have: ${missing.join(', ')}.`,
    };
  const commands = [['apt-get', 'update', '-q'], installation(missing)];
  if (isRoot) return { kind: 'run', commands };
  const lines = commands.map((command) => `  sudo ${command.join(' ')}`);
  return { kind: 'tell', text: ['Only root can install packages. Run:', ...lines].join('\n') };
};

const isDebian = ({ systems, hasAptGet }: DesktopMachine): boolean =>
  hasAptGet && systems.some((system) => system === 'debian' || system === 'ubuntu');

const installation = (names: readonly string[]): readonly string[] => [
  ...['apt-get', 'install', '-y', '-q', '--no-install-recommends', '--no-remove'],
  ...names,
];

/** One by one: a name that the distribution does not know keeps all others from being installed. */
export const installEach = (names: readonly string[]): readonly (readonly string[])[] =>
  names.map((name) => installation([name]));

/** `ID` and the names of `ID_LIKE` in an os-release(5) file. */
export const systemsIn = (osRelease: string): readonly string[] =>
  [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].flatMap(([, value = '']) =>
    value.replaceAll(/["']/g, '').split(/\s+/).filter(Boolean),
  );
