import { isStaleEpoch, untilReached, AgentClient } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/agents';
import {
  fileNameOf,
  pathProblem,
  type ChangePath,
  type DiscardStaged,
  type MovePath,
  type PutAttachment,
  type PutFile,
  type PutStaged,
  type StagedRef,
} from '@berth/contracts/files';
import { runtimeRequests, type FileCommand, type StagedTarget } from '@berth/contracts/runtime';
import { DomainError, isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { useOf, type AgentTarget } from '../agent-target.js';
import { AttachmentNotifier } from './attachment-notifier.js';
import { failureOfChange } from './change-outcome.js';
import type { Changed } from './file-change.js';
import { FileChanges } from './file-changes.js';
import type { RequestedChange } from './personal-paths.js';

/** Handles every command that changes a volume. */
@Injectable()
export class ChangeCommandHandler {
  constructor(
    private readonly agents: AgentClient,
    private readonly changes: FileChanges,
    private readonly notifier: AttachmentNotifier,
    private readonly requester: Requester,
  ) {}

  async mkdir(request: ChangePath): Promise<{ readonly path: string }> {
    const { path } = request;
    return { path: (await this.change(request, { op: 'mkdir', path }, { op: 'mkdir', path })).path };
  }

  async move(request: MovePath): Promise<{ readonly from: string; readonly to: string }> {
    const { from, to } = request;
    const changed = await this.change(request, { op: 'move', path: from, to }, { op: 'move', from, to });
    return { from: changed.from ?? from, to: changed.path };
  }

  async delete(request: ChangePath): Promise<{ readonly path: string }> {
    const { path } = request;
    return { path: (await this.change(request, { op: 'delete', path }, { op: 'delete', path })).path };
  }

  async put(request: PutStaged): Promise<PutFile> {
    const { target, staged } = request;
    if (target.kind === 'path') {
      refuse(pathProblem(target.path));
      return this.commit(request, { op: 'write', path: target.path }, staged, target);
    }
    const { kind, folder } = target;
    refuse(pathProblem(folder));
    const name = fileNameOf(target.name);
    return this.commit(request, { op: 'upload', path: inFolder(folder, name) }, staged, {
      kind,
      folder,
      name,
    });
  }

  /** Keeps the file even if the agent cannot be notified. */
  async putAttachment(request: PutAttachment): Promise<PutFile> {
    const name = fileNameOf(request.name);
    const target = { kind: 'inbox', name } as const;
    const attachment = await this.commit(request, { op: 'attach', path: name }, request.staged, target);
    await this.notifier.notify(request, request.message, attachment);
    return attachment;
  }

  /** Best effort: the next start of the agent removes what is still staged. */
  async discard({
    agentId,
    staged: { host, epoch, stagedId },
  }: DiscardStaged): Promise<Record<string, never>> {
    const command = { op: 'discard', stagedId } as const;
    await this.requester
      .request(runtimeRequests.changeFile, { agentId, epoch, command }, { host, deadlineMs: DISCARD_MS })
      .catch(() => undefined);
    return {};
  }

  private async change(
    agentTarget: AgentTarget,
    requested: RequestedChange,
    command: FileCommand,
  ): Promise<Changed> {
    const problem =
      pathProblem(requested.path) ?? (requested.to === undefined ? undefined : pathProblem(requested.to));
    // Do not wake the agent for an invalid path, but report a missing agent first.
    if (problem !== undefined) await this.agents.locate(agentTarget.accountId, agentTarget.agentId);
    refuse(problem);
    const use = useOf(agentTarget);
    const awake = await this.agents.wake(use);
    const { endUserId = null } = awake;
    return this.changes.make({ ...agentTarget, endUserId }, requested, () =>
      this.agents.withAwakeAgent(use, (agent) => this.changeAt(agent, command), { awake }),
    );
  }

  private async commit(
    { commandId, accountId, actor, agentId }: AgentTarget,
    requested: RequestedChange,
    { stagedId, endUserId = null, host, epoch }: StagedRef,
    target: StagedTarget,
  ): Promise<PutFile> {
    const at = { agentId, host, epoch };
    let used = false;
    const put = (): Promise<Changed> => {
      used = true;
      return this.changeAt(at, { op: 'commit', stagedId, target });
    };
    const agentTarget = { commandId, accountId, actor, agentId, endUserId };
    const { path, name, size } = await this.changes.make(agentTarget, requested, () =>
      untilReached(put).catch((error: unknown) => {
        throw isLost(error) ? transferLost(error) : error;
      }),
    );
    // The same command has already put its file, so this staged copy is not needed.
    if (!used) await this.discard({ agentId, staged: { stagedId, host, epoch } });
    return { path, name, size };
  }

  private async changeAt(
    { agentId, host, epoch }: Pick<AwakeAgent, 'agentId' | 'host' | 'epoch'>,
    command: FileCommand,
  ): Promise<Changed> {
    const request = { agentId, epoch, command };
    try {
      const { path, from, name, size } = await this.requester.request(runtimeRequests.changeFile, request, {
        host,
      });
      return { path, ...(from === undefined ? {} : { from }), name, size };
    } catch (error) {
      throw failureOfChange(error);
    }
  }
}

const DISCARD_MS = 5_000;

const refuse = (problem: DomainError | undefined): void => {
  if (problem !== undefined) throw problem;
};

const inFolder = (folder: string, name: string): string =>
  (folder.endsWith('/') ? folder : `${folder}/`) + name;

/** The agent fell asleep, stopped or moved between staging and putting, and its staged files are gone. */
const isLost = (error: unknown): boolean =>
  isStaleEpoch(error) || (isDomainError(error) && error.code === 'staged_file_unknown');

const transferLost = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'transfer_lost',
    'The agent went away before the file was put in place; nothing was changed. Send it again.',
    {},
    { cause, effect: 'none' },
  );
