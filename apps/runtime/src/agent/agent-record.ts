import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StartAgent } from '@berth/contracts/runtime';
import type { Json } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { readStored, unlessMissing, writeDurably } from '../durable-file.js';
import { removeTree } from '../remove-tree.js';
import { agentFolders } from './agent-folders.js';

/** State of an agent on the host's disk, from which a restarted host finds it again. Contains no secrets. */
export interface AgentRecord {
  readonly agentId: string;
  /** The highest epoch this host has seen. */
  readonly epoch: number;
  /** A stop was requested up to this epoch; a late start for it is rejected. */
  readonly endedEpoch: number;
  readonly idleTtlSeconds: number;
  /** The deployment whose version it runs; null: its template. */
  readonly deploymentId: string | null;
  /** The agent's box, if it has one. `guest` is the guest's description of itself after its start. */
  readonly box: Json;
  /** The epoch that the box was started for; null without a box, and in records of versions that did not store it. */
  readonly boxEpoch: number | null;
  /** When the box was started, ISO 8601; null without a box, and in records of versions that did not store it. */
  readonly startedAt: string | null;
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] } | null;
}

/** The fields of a record without a box. */
export const NO_BOX = { box: null, boxEpoch: null, startedAt: null } as const;

/** The record of an agent that was never on this host. */
export const blankRecord = (agentId: string): AgentRecord => ({
  agentId,
  epoch: 0,
  endedEpoch: 0,
  idleTtlSeconds: 0,
  deploymentId: null,
  ...NO_BOX,
  guest: null,
});

/** The fields that change when an agent starts. */
export const startingRecord = ({ epoch, idleTtlSeconds, source }: StartAgent): Partial<AgentRecord> => ({
  epoch,
  idleTtlSeconds,
  deploymentId: 'deploymentId' in source ? source.deploymentId : null,
  ...NO_BOX,
  guest: null,
});

/** Stores agent records, one file per agent. */
@Injectable()
export class AgentRecords {
  private readonly dataDir: string;

  constructor(@Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>) {
    this.dataDir = dataDir;
  }

  async save(record: AgentRecord): Promise<void> {
    const { state } = agentFolders(this.dataDir, record.agentId);
    await mkdir(dirname(state), { recursive: true, mode: 0o700 });
    await writeDurably(state, JSON.stringify(record));
  }

  /**
   * Throws `ConfigError` if a record cannot be read: without the record the agent would be ended, and its host would
   * accept earlier epochs again.
   */
  async readAll(): Promise<readonly AgentRecord[]> {
    const folder = join(this.dataDir, 'agents');
    const listed = readdir(folder, { withFileTypes: true });
    const entries = (await unlessMissing(folder, 'the agents of this host', listed)) ?? [];
    const agentIds = entries.flatMap((entry) => (entry.isDirectory() ? entry.name : []));
    const records = await Promise.all(agentIds.map((agentId) => this.#read(agentId)));
    return records.flatMap((record) => record ?? []);
  }

  /** Deletes the record with all of the agent's folders. */
  async remove(agentId: string): Promise<void> {
    await removeTree(agentFolders(this.dataDir, agentId).root);
  }

  #read(agentId: string): Promise<AgentRecord | undefined> {
    return readStored(agentFolders(this.dataDir, agentId).state, {
      description: 'the record of an agent',
      parse: (json) => parseRecord(agentId, json),
    });
  }
}

const parseRecord = (agentId: string, json: unknown): AgentRecord | undefined => {
  if (typeof json !== 'object' || json === null) return undefined;
  const record = { ...blankRecord(agentId), ...json, agentId } as AgentRecord;
  return Number.isSafeInteger(record.epoch) && Number.isSafeInteger(record.endedEpoch) ? record : undefined;
};
