import { agentsRequests, type AgentView } from '@berth/contracts/agents';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { AppOrigins } from './app-origins.js';

/** The services read their templates when they start; a rolling restart may bring others. */
const KNOWN_FOR_MS = 30_000;

/** Adds the URL of its app to each agent that has a program. */
@Injectable()
export class AppUrls {
  #programless: { readonly at: number; readonly ids: Promise<ReadonlySet<string>> } | undefined;

  constructor(
    private readonly requester: Requester,
    private readonly origins: AppOrigins,
  ) {}

  /** The agent as callers see it. */
  async shown(agent: AgentView): Promise<AgentView> {
    const isProgramless =
      agent.source.kind === 'template' && (await this.programless()).has(agent.templateId);
    return { ...agent, appUrl: isProgramless ? null : this.origins.urlOf(agent.id) };
  }

  private programless(): Promise<ReadonlySet<string>> {
    const known = this.#programless;
    if (known !== undefined && performance.now() - known.at < KNOWN_FOR_MS) return known.ids;
    const ids = this.requester
      .request(agentsRequests.programlessTemplates, {})
      .then(({ templateIds }) => new Set(templateIds));
    this.#programless = { at: performance.now(), ids };
    ids.catch(() => (this.#programless = undefined));
    return ids;
  }
}
