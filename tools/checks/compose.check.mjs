import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const FILE = 'docker-compose.yml';
/** The only service that publishes a port. */
const PUBLISHES = 'proxy';
const LOOPBACK = /^(\$\{\w+:-)?127\.0\.0\.1/;
/** The image target whose container also runs agents. */
const RUNS_AGENTS = 'runtime';
const PRIVATE_FOLDER = '/etc/berth/secrets';
/** Mounted like secrets, but agents may read them. */
const NO_SECRETS = new Set(['host_id']);
/** Written by make-secrets.sh. */
const GENERATED = './.data/';
const SECRET_NAME = /(PASSWORD|SECRET|SECRET_KEY|KEYRING|TOKEN)$/;

/** Checks that the compose files are consistent, with or without Docker. */
export const checkCompose = ({ root }) => {
  if (!existsSync(join(root, FILE))) return { problems: [`${FILE} is missing`], read: 0 };
  const problems = [];
  let read = 0;
  for (const path of [FILE, ...globSync('infra/compose/*.{yml,yaml}', { cwd: root })]) {
    const parsed = parseFile(root, path, problems);
    const services = parsed?.services ?? {};
    read += Object.keys(services).length;
    const whole = path === FILE;
    for (const [name, service] of Object.entries(services)) {
      for (const problem of judgeService(root, parsed, name, service ?? {}, whole))
        problems.push(`${path}: ${problem}`);
    }
  }
  const docker = checkWithDocker(root);
  return { problems: [...problems, ...docker.problems], read, notes: docker.notes };
};

const parseFile = (root, path, problems) => {
  try {
    // Without warnings of tags that only compose knows, as `!reset`.
    return parse(readFileSync(join(root, path), 'utf8'), { merge: true, logLevel: 'error' });
  } catch (error) {
    problems.push(`${path}: ${error.message}`);
    return null;
  }
};

const judgeService = (root, file, name, service, whole) => [
  ...(whole
    ? [
        ...judgeCare(name, service),
        ...judgeNeeds(file, name, service),
        ...judgePorts(name, service),
        ...judgeBrokerSecrets(root, name, service),
      ]
    : []),
  ...judgeImage(root, name, service, whole),
  ...judgeMounts(root, file, name, service),
  ...judgeSecrets(file, name, service),
];

/** What is run by hand, under a profile, needs none. */
const judgeCare = (name, service) =>
  service.profiles !== undefined
    ? []
    : [
        ['healthcheck', service.healthcheck?.test],
        ['mem_limit', service.mem_limit],
        ['restart', service.restart],
      ]
        .filter(([, value]) => value === undefined)
        .map(([what]) => `${name} has no ${what}`);

const judgeNeeds = (file, name, service) => {
  const problems = [];
  for (const [other, how] of Object.entries(service.depends_on ?? {})) {
    if (file.services[other] === undefined)
      problems.push(`${name} depends on ${other}, which is not a service`);
    if (how?.condition !== 'service_healthy')
      problems.push(`${name} must wait until ${other} is service_healthy`);
  }
  for (const network of namesOf(service.networks)) {
    if (!(network in (file.networks ?? {})))
      problems.push(`${name} is in network ${network}, which is not defined`);
  }
  return problems;
};

/** Networks are a list or a map. */
const namesOf = (value) => (Array.isArray(value) ? value : Object.keys(value ?? {}));

const judgePorts = (name, service) => {
  const problems = [];
  for (const port of service.ports ?? []) {
    if (name !== PUBLISHES) problems.push(`${name} publishes ${port}: only ${PUBLISHES} may`);
    if (!LOOPBACK.test(String(port)))
      problems.push(`${name} publishes ${port} beyond the loopback interface by default`);
  }
  return problems;
};

const judgeImage = (root, name, { image, build }, whole) => {
  if (image === undefined && build === undefined) return whole ? [`${name} has neither image nor build`] : [];
  if (build === undefined)
    return /:[\w.-]*\d/.test(image) ? [] : [`${name} must pin the version of ${image}`];
  const dockerfile = join(build.context ?? '.', build.dockerfile ?? 'Dockerfile');
  return existsSync(join(root, dockerfile))
    ? []
    : [`${name} builds from ${dockerfile}, which does not exist`];
};

const judgeMounts = (root, file, name, service) => {
  const problems = [];
  for (const volume of service.volumes ?? []) {
    const source = typeof volume === 'string' ? volume.split(':')[0] : volume.source;
    if (/^\.\.?\//.test(source) && !source.startsWith(GENERATED) && !existsSync(join(root, source)))
      problems.push(`${name} mounts ${source}, which does not exist`);
    if (/^[\w-]+$/.test(source) && !(source in (file.volumes ?? {})))
      problems.push(`${name} uses volume ${source}, which is not defined`);
  }
  return problems;
};

const judgeSecrets = (file, name, service) => {
  const problems = [];
  for (const secret of service.secrets ?? []) {
    const source = secret.source ?? secret;
    if (!(source in (file.secrets ?? {})))
      problems.push(`${name} uses secret ${source}, which is not defined`);
  }
  for (const [key, value] of Object.entries(service.environment ?? {})) {
    if (SECRET_NAME.test(key) && value !== null)
      problems.push(`${name}: ${key} carries a secret; use a file under secrets`);
    if (/:\/\/[^/@$]*:[^/@$]+@/.test(String(value)))
      problems.push(`${name}: ${key} carries a password; use a file under secrets`);
  }
  return problems;
};

/** Each service mounts only its own broker password, and agents cannot read the one of the runtime. */
const judgeBrokerSecrets = (root, name, service) => {
  if (service.build === undefined) return [];
  const own = `nats_url_${service.command?.[0] ?? name}`;
  const mounted = sourcesOf(service).filter((source) => source.startsWith('nats_'));
  const problems = [];
  if (mounted.join() !== own)
    problems.push(`${name} must mount the secret ${own} and no other broker secret`);
  return service.build.target === RUNS_AGENTS
    ? [...problems, ...judgeSecretsBesideAgents(root, name, service)]
    : problems;
};

const sourcesOf = (service) => (service.secrets ?? []).map((secret) => secret.source ?? secret);

const judgeSecretsBesideAgents = (root, name, service) => {
  const problems = (service.secrets ?? [])
    .filter(({ target = '' }) => !target.startsWith(`${PRIVATE_FOLDER}/`))
    .map((secret) => secret.source ?? secret)
    .filter((source) => !NO_SECRETS.has(source))
    .map((source) => `${name} must mount ${source} below ${PRIVATE_FOLDER}: agents read /run/secrets`);
  const dockerfile = join(root, service.build.context ?? '.', service.build.dockerfile ?? 'Dockerfile');
  const makes = `install -d -o root -g root -m 0700 ${PRIVATE_FOLDER}`;
  if (existsSync(dockerfile) && !readFileSync(dockerfile, 'utf8').includes(makes))
    problems.push(`${name}: its Dockerfile must close ${PRIVATE_FOLDER} to agents (${makes})`);
  return problems;
};

/** Runs `docker compose config` if it is installed; otherwise a note says that only this check read the files. */
const checkWithDocker = (root) => {
  for (const [command, ...args] of [['docker', 'compose'], ['docker-compose']]) {
    // Version 1 does not support the specification that the files use.
    const version = spawnSync(command, [...args, 'version', '--short'], { encoding: 'utf8' });
    if (version.status !== 0 || /^v?1\./.test(version.stdout.trim())) continue;
    const checked = spawnSync(command, [...args, '-f', FILE, 'config', '-q'], {
      cwd: root,
      encoding: 'utf8',
    });
    return { problems: checked.status === 0 ? [] : [`${FILE}: ${checked.stderr.trim()}`], notes: [] };
  }
  return {
    problems: [],
    notes: ['docker compose is not installed: only this check read the files'],
  };
};
