import type { HostRef } from '@berth/contracts/agents';
import type { ProjectionRunner } from '@berth/event-store';
import { DomainError, isId } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { systemOrigin, type CommandOrigin } from '../agent/agent.command-handler.js';
import { hostNotFound, hostRemoved, type HostCommand } from './host.decider.js';
import { HostDirectory } from './host-directory.js';
import { hostListProjection } from './host-list.projection.js';
import { HostStreams } from './host.streams.js';
import { HostProbe } from './host-probe.js';
import type { Host } from './host.js';

/** Hosts belong to the installation, not to an account. */
const NO_ACCOUNT = 'system';

/** Executes commands on hosts, and waits (bounded) until the list of hosts shows the result. */
@Injectable()
export class HostCommandHandler {
  constructor(
    private readonly streams: HostStreams,
    private readonly directory: HostDirectory,
    private readonly probe: HostProbe,
    @InjectProjection(hostListProjection) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  async load(hostId: string): Promise<Host> {
    return (await this.streams.load(hostId)).state;
  }

  /** Records a host that announces itself for the first time. Errors: conflict `host_removed`. */
  async join(hostId: string, name: string): Promise<void> {
    const { status } = await this.load(hostId);
    if (status === 'removed') throw hostRemoved();
    if (status !== 'unknown') return;
    const origin = systemOrigin(NO_ACCOUNT, `${hostId}/joined`);
    await this.#handle(hostId, { type: 'Join', hostId, name, at: now() }, origin);
  }

  drain(request: HostRef): Promise<void> {
    return this.#handle(ofHost(request), { type: 'Drain', at: now() }, request);
  }

  resume(request: HostRef): Promise<void> {
    return this.#handle(ofHost(request), { type: 'Resume', at: now() }, request);
  }

  /** The silence may be due to this service or the database, so the host is asked again. */
  async remove(request: HostRef): Promise<void> {
    const hostId = ofHost(request);
    const { status } = await this.load(hostId);
    if (status === 'unknown' || status === 'removed') throw hostNotFound();
    if (!(await this.directory.isLost(hostId)) || (await this.probe.canStart(hostId))) throw hostNotLost();
    await this.#handle(hostId, { type: 'Remove', at: now() }, request);
  }

  async #handle(hostId: string, command: HostCommand, origin: CommandOrigin): Promise<void> {
    const { position } = await this.streams.handle(hostId, command, origin);
    if (position !== null) await this.list.waitFor(position);
  }
}

const ofHost = ({ hostId }: HostRef): string => {
  if (!isId('hst', hostId)) throw hostNotFound();
  return hostId;
};

const hostNotLost = (): DomainError =>
  new DomainError(
    'conflict',
    'host_not_lost',
    'The host is not lost. Drain it, or stop its runtime and wait 30 s.',
  );

const now = (): string => new Date().toISOString();
