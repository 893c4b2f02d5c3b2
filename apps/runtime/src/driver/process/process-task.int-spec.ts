import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessGroup } from './process-group.js';
import { runProcessTask, type TaskMeans } from './process-task.js';
import type { WorkspaceMounts } from './workspace-mounts.js';

const LIMITS = { memoryBytes: 1e9, cpus: 1, processes: 100, diskBytes: 1e9 };

describe('a task of the process driver', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-task-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a task that ends only by a kill, in a group that its process never joins. */
  const run = (create: () => Promise<readonly string[]>, signal: AbortSignal) => {
    const processGroup = { create, kill: () => Promise.resolve() } as unknown as ProcessGroup;
    const inside = { code: folder, tmp: folder, path: process.env['PATH'] ?? '' };
    const workspaceMounts = {
      prepareTask: () => Promise.resolve({ inside, view: null, stores: [] }),
      removeTask: () => Promise.resolve(),
    } as unknown as WorkspaceMounts;
    const means: TaskMeans = {
      processGroup,
      workspaceMounts,
      noNewPrivileges: false,
      markPrefix: 'test',
      runAs: null,
    };
    const spec = { taskId: 'dep_1', folder, script: 'echo begun; exec sleep 604', env: {}, limits: LIMITS };
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const end = runProcessTask(
      { ...spec, network: 'public', runtimeClass: null },
      means,
      () => resolve(),
      signal,
    );
    return { begun, end };
  };

  it('ends if it is aborted while it is launched', async () => {
    const aborting = new AbortController();
    const create = async (): Promise<readonly string[]> => {
      aborting.abort();
      return [];
    };
    expect(await run(create, aborting.signal).end).toEqual({ how: 'aborted' });
  });

  it('ends if it is aborted before its process has joined its group', async () => {
    const aborting = new AbortController();
    const { begun, end } = run(() => Promise.resolve([]), aborting.signal);
    await begun;
    aborting.abort();
    expect(await end).toEqual({ how: 'aborted' });
  });
});
