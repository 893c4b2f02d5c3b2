/** The files at the top of a repository that define how it starts. null: not a regular file, or missing. */
export interface TopFiles {
  /** Names of the regular files. */
  readonly names: ReadonlySet<string>;
  readonly berthJson: string | null;
  readonly packageJson: string | null;
}

/** How a version is built and started. Both are for `sh` and run in the folder of the code. */
export interface StartPlan {
  readonly build: readonly string[];
  readonly start: string;
  /** Variables of the program and of the build, which the owner's replace. */
  readonly env: Readonly<Record<string, string>>;
}

/** The version is the image that the repository's Dockerfile makes. */
export interface DockerfilePlan {
  readonly dockerfile: true;
}

/** Why nothing says how the repository starts. */
export interface NoStart {
  readonly refusal: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MAX_VARIABLES = 256;
const PROGRAMS = ['main.py', 'app.py'] as const;
const PYTHON = '.venv/bin/python';

const NOTHING_FOUND =
  'The repository has no berth.json, no Dockerfile, no package.json with a start script, and no Python program with pyproject.toml or requirements.txt.';

/**
 * The first kind that matches decides, even if it is not valid. `refusesDockerfiles`: why the host builds none; null: it
 * does.
 */
export const planStart = (
  files: TopFiles,
  refusesDockerfiles: string | null,
): StartPlan | DockerfilePlan | NoStart => {
  if (files.berthJson !== null) return fromBerthJson(files.berthJson);
  if (files.names.has('Dockerfile'))
    return refusesDockerfiles === null ? { dockerfile: true } : { refusal: refusesDockerfiles };
  return fromPackage(files) ?? fromPython(files) ?? { refusal: NOTHING_FOUND };
};

const fromBerthJson = (text: string): StartPlan | NoStart => {
  const fields = parseObject(text);
  if (fields === null) return { refusal: 'berth.json is not a JSON object.' };
  const { build, start, env = {} } = fields;
  if (typeof start !== 'string' || start.trim() === '')
    return { refusal: 'berth.json has no "start" (a shell command).' };
  if (build !== undefined && typeof build !== 'string')
    return { refusal: '"build" of berth.json must be a shell command.' };
  if (start.includes('\0') || build?.includes('\0') === true)
    return { refusal: 'The commands of berth.json must not contain NUL characters.' };
  const variables = readVariables(env);
  if (variables === null)
    return {
      refusal: `"env" of berth.json must hold at most ${MAX_VARIABLES} variables with strings as values.`,
    };
  const steps = build === undefined || build.trim() === '' ? [] : [build];
  return { build: steps, start, env: variables };
};

/** null if they are not valid. Variables that only Berth sets are left out. */
const readVariables = (env: unknown): Record<string, string> | null => {
  if (typeof env !== 'object' || env === null || Array.isArray(env)) return null;
  const entries = Object.entries(env as Record<string, unknown>);
  if (entries.length > MAX_VARIABLES) return null;
  const kept: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (!NAME.test(name) || typeof value !== 'string' || value.includes('\0')) return null;
    if (name !== 'PORT' && !name.startsWith('BERTH_')) kept[name] = value;
  }
  return kept;
};

const fromPackage = ({ names, packageJson }: TopFiles): StartPlan | null => {
  const scripts = packageJson === null ? null : parseObject(packageJson)?.['scripts'];
  if (typeof scripts !== 'object' || scripts === null || !('start' in scripts)) return null;
  if (typeof scripts.start !== 'string') return null;
  const locked = names.has('package-lock.json') || names.has('npm-shrinkwrap.json');
  return {
    build: [locked ? 'npm ci' : 'npm install', 'npm run build --if-present'],
    start: 'npm start',
    env: {},
  };
};

const fromPython = ({ names }: TopFiles): StartPlan | null => {
  const program = PROGRAMS.find((name) => names.has(name));
  const listed = names.has('requirements.txt');
  if (program === undefined || (!listed && !names.has('pyproject.toml'))) return null;
  const install = listed ? 'install -r requirements.txt' : 'install .';
  return {
    build: ['python3 -m venv --clear .venv', `${PYTHON} -m pip ${install}`],
    start: `exec ${PYTHON} ${program}`,
    env: { PYTHONUNBUFFERED: '1' },
  };
};

const parseObject = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
};
