import type { ActivityKind } from '@berth/contracts/agents';
import type { OpenTransfer, Transfer } from '@berth/contracts/runtime';
import { Injectable } from '@nestjs/common';
import { staleEpoch } from '../agent/agent-refusals.js';
import type { BoxedGuest } from '../agent/boxed-guest.js';
import { HostedAgents } from '../agent/hosted-agents.js';
import { ticketUnknown } from './transfer-refusals.js';
import { TransferTickets } from './transfer-tickets.js';

/** Following output does not keep the agent awake: the execution itself does. */
const ACTIVITY: { readonly [Kind in Transfer['kind']]: ActivityKind | null } = {
  list: 'file',
  download: 'file',
  stage: 'file',
  output: null,
  console: 'console',
};

/** A running transfer. */
export interface BegunTransfer {
  readonly transfer: Transfer;
  readonly guest: BoxedGuest;
  /** Aborts when the agent prepares to sleep; for output, when it is frozen or ended. */
  readonly cut: AbortSignal;
  /** The error to report if the transfer was aborted: the agent has moved on. */
  readonly wasCut: () => Error;
  /** Call when the transfer is over. */
  readonly release: () => void;
}

/** Issues and redeems tickets; a valid ticket or a running transfer keeps its agent awake. */
@Injectable()
export class Transfers {
  constructor(
    private readonly agents: HostedAgents,
    private readonly tickets: TransferTickets,
  ) {}

  /** Issues a ticket that is valid once. Errors: not_found `agent_not_on_host`, conflict `stale_epoch`. */
  open({ agentId, epoch, transfer }: OpenTransfer): string {
    const guest = this.agents.of(agentId).openAt(epoch);
    return this.tickets.mint({ agentId, epoch, transfer, release: hold(guest, ACTIVITY[transfer.kind]) });
  }

  /** Redeems a ticket. Errors: unauthenticated `ticket_unknown`, and those of `open`. */
  begin(ticket: string): BegunTransfer {
    const held = this.tickets.redeem(ticket);
    if (held === undefined) throw ticketUnknown();
    const { agentId, epoch, transfer, release } = held;
    try {
      const guest = this.agents.of(agentId).openAt(epoch);
      const wasCut = (): Error => staleEpoch(epoch, 'freezing');
      const { closing, still } = guest.signals;
      // A client that follows output also receives the end that the sleep causes.
      return { transfer, guest, cut: transfer.kind === 'output' ? still : closing, wasCut, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  close(): void {
    this.tickets.close();
  }
}

/** Keeps the agent awake until the returned function is called. */
const hold = (guest: BoxedGuest, kind: ActivityKind | null): (() => void) => {
  const over = Promise.withResolvers<void>();
  if (kind !== null) {
    void guest.during(kind, async ({ closing }) => {
      closing.addEventListener('abort', () => over.resolve(), { once: true });
      await over.promise;
    });
  }
  return over.resolve;
};
