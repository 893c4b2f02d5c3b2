import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbedded } from '@berth/embedded';
import { RUN_FOLDER_VARIABLE } from './lease.js';

const ELSEWHERE = 'elsewhere://';
const SECRETS = join('embedded', 'secrets.json');
const exec = promisify(execFile);

/**
 * Gives a new data folder the PostgreSQL cluster that a first start creates, and its password. The cluster is created
 * once per run and then copied, which takes a tenth of the processor time. Outside of a run it does nothing, so that
 * the first start creates the cluster; likewise if the folder has one.
 */
export const provideCluster = async (dataDir: string): Promise<void> => {
  const runFolder = process.env[RUN_FOLDER_VARIABLE];
  if (runFolder === undefined || existsSync(join(dataDir, 'postgres'))) return;
  const template = join(runFolder, 'cluster');
  if (!existsSync(template)) await createTemplate(runFolder, template);
  mkdirSync(join(dataDir, 'embedded'), { recursive: true, mode: 0o700 });
  // Unlike `fs.cp` it keeps the owner: PostgreSQL runs as another user than root.
  await exec('cp', ['-a', join(template, 'postgres'), dataDir]);
  await exec('cp', ['-a', join(template, SECRETS), join(dataDir, SECRETS)]);
};

const createTemplate = async (runFolder: string, template: string): Promise<void> => {
  const draft = mkdtempSync(join(runFolder, 'new-cluster-'));
  const silent = (): void => undefined;
  const running = await startEmbedded({
    dataDir: draft,
    natsUrl: ELSEWHERE,
    eventStoreUrl: ELSEWHERE,
    log: { info: silent, warn: silent, error: silent },
  });
  await running.stop();
  const { postgresPassword } = JSON.parse(readFileSync(join(draft, SECRETS), 'utf8')) as Record<
    string,
    string
  >;
  // The users of the broker remain different in each data folder.
  writeFileSync(join(draft, SECRETS), JSON.stringify({ postgresPassword }));
  try {
    renameSync(draft, template);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process of the run was faster.
    if (!existsSync(template)) throw error;
  }
};
