import { createHash, createHmac } from 'node:crypto';
import { DomainError } from '@berth/kernel';
import { EndUserKeys, fromPersonal, toPersonal, type Personal, type PersonalKey } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import type { PublishedEntry } from '../schedule/schedule.js';
import type { ParsedEntry } from './parse-entries.js';

const about = (agentId: string): string => `schedule/${agentId}/prompt`;

/** A list as events hold it. */
export interface SealedList {
  readonly entries: readonly PublishedEntry[];
  readonly digest: string;
}

/** The prompts of schedules, which may be personal data of the end user to whom the agent belongs. */
@Injectable()
export class SealedPrompts {
  constructor(private readonly keys: EndUserKeys) {}

  /** Errors: not_found `agent_not_found` if the end user is deleted; unavailable `service_unavailable`. */
  async seal(
    agentId: string,
    endUserId: string | null,
    entries: readonly ParsedEntry[],
  ): Promise<SealedList> {
    const key = endUserId === null ? null : await this.keys.find(endUserId);
    if (endUserId !== null && key === null)
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    return {
      digest: digestOf(key, entries),
      entries: entries.map(({ prompt, ...entry }) => ({
        ...entry,
        prompt: prompt === null ? null : toPersonal(key, about(agentId), prompt),
      })),
    };
  }

  /** Returns null if there is none, or the end user is deleted. Errors: unavailable `service_unavailable`. */
  async open(agentId: string, prompt: Personal<string> | null): Promise<string | null> {
    if (prompt === null) return null;
    const key = prompt.endUserId === null ? null : await this.keys.find(prompt.endUserId);
    return fromPersonal(key, about(agentId), prompt);
  }
}

/** Without the key, the digest does not tell which list it was. */
const digestOf = (key: PersonalKey | null, entries: readonly ParsedEntry[]): string => {
  const hash = key === null ? createHash('sha256') : createHmac('sha256', key.bytes);
  return hash.update(JSON.stringify(entries)).digest('base64url');
};
