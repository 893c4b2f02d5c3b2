import { join } from 'node:path';
import { expect } from 'vitest';
import { Api } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { HostNetwork } from './host-network.fixture.js';
import { HOSTS, JoinedHost, listed, untilHostIs } from './joined-hosts.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

/** An installation on a network, and the hosts that join it. */
export class SeveralHosts {
  readonly #folder = temporaryFolder();
  readonly #joined: JoinedHost[] = [];
  #network: HostNetwork | undefined;
  #stack: StandaloneStack | undefined;
  readonly api = new Api(() => this.stack);

  get stack(): StandaloneStack {
    if (this.#stack === undefined) throw new Error('The stack did not start.');
    return this.#stack;
  }

  /** The address of the installation on the network. */
  get address(): string {
    return this.#network?.address ?? '';
  }

  async start(): Promise<void> {
    this.#network = new HostNetwork();
    this.#stack = await startStandaloneStack(join(this.#folder.path, 'main'), {
      BERTH_NATS_HOST: this.#network.address,
      BERTH_HOST: '0.0.0.0',
      BERTH_ALLOW_UNISOLATED: '1',
    });
  }

  async join(name: string, options: { readonly tls?: boolean } = {}): Promise<JoinedHost> {
    if (this.#network === undefined) throw new Error('There is no network.');
    const host = await JoinedHost.join(this.stack, this.#network, name, options);
    this.#joined.push(host);
    await untilHostIs(this.api, host.id, 'ready');
    return host;
  }

  async stop(): Promise<void> {
    for (const { network } of this.#joined) network.plugIn();
    await Promise.all(this.#joined.map((host) => host.stop()));
    await this.#stack?.stop();
    this.#network?.remove();
    this.#folder.remove();
  }

  host(index: number): JoinedHost {
    const found = this.#joined[index];
    if (found === undefined) throw new Error('The host did not join.');
    return found;
  }

  /** Drains every host but this one; null drains all. */
  async drainAllBut(kept: JoinedHost | null): Promise<void> {
    const { body } = await this.api.get<{ readonly items: readonly { readonly id: string }[] }>(HOSTS);
    for (const { id } of body.items)
      expect((await this.api.post(`${HOSTS}/${id}/${id === kept?.id ? 'resume' : 'drain'}`)).status).toBe(
        202,
      );
  }

  async agentOn(kept: JoinedHost, more: Record<string, unknown> = {}): Promise<string> {
    await this.drainAllBut(kept);
    const before = (await listed(this.api, kept.id))?.agents.awake ?? 0;
    const { id } = await this.api.runningAgent(more);
    expect((await listed(this.api, kept.id))?.agents.awake).toBe(before + 1);
    return id;
  }

  /** Expects that files and the output of commands pass between the installation and an agent on the host. */
  async expectTransfers(host: JoinedHost): Promise<void> {
    const { api } = this;
    const id = await this.agentOn(host);
    const file = `/api/agents/${id}/files`;
    const written = await api.call('PUT', `${file}/write`, { body: { path: 'a', content: 'kept' } });
    expect(written.status).toBe(200);
    expect((await api.get(`${file}/download?path=a`)).body).toEqual({ text: 'kept' });
    const commands = new Executions(api, id);
    const execution = await commands.begin('sleep 1; cat a');
    const followed = await api.get(`/api/agents/${id}/exec/${execution}/output?follow=true`);
    expect(followed.body['text']).toContain('data: {"text":"kept"}');
  }
}
