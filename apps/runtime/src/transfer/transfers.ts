import type { ActivityKind } from '@berth/contracts-agents';
import type { OpenTransfer, Transfer } from '@berth/contracts-runtime';
import { staleEpoch } from '../agent/agent-refusals.js';
import type { BoxedGuest } from '../agent/boxed-guest.js';
import type { HostedAgents } from '../agent/hosted-agents.js';
import { ticketUnknown } from './transfer-refusals.js';
import { TransferTickets } from './transfer-tickets.js';

/** A following of output keeps nobody awake: the execution itself does. */
const ACTIVITY: { readonly [Kind in Transfer['kind']]: ActivityKind | null } = {
  list: 'file',
  download: 'file',
  stage: 'file',
  output: null,
  console: 'console',
};

/** A transfer that is being done. */
export interface BegunTransfer {
  readonly transfer: Transfer;
  readonly guest: BoxedGuest;
  /** Aborts when the agent is put to rest. */
  readonly cut: AbortSignal;
  /** What its failure was if it was cut: the agent has moved on. */
  readonly wasCut: () => Error;
  /** To be called when it is over. */
  readonly release: () => void;
}

/** Who may do which transfer; one that may be done or is being done keeps its agent awake. */
export class Transfers {
  constructor(
    private readonly agents: HostedAgents,
    private readonly tickets: TransferTickets = new TransferTickets(),
  ) {}

  /** A ticket, good once. Errors: not_found `agent_not_on_host`, conflict `stale_epoch`. */
  open({ agentId, epoch, transfer }: OpenTransfer): string {
    const guest = this.agents.of(agentId).openAt(epoch);
    return this.tickets.mint({ agentId, epoch, transfer, release: hold(guest, ACTIVITY[transfer.kind]) });
  }

  /** Errors: unauthenticated `ticket_unknown`, and those of `open`. */
  begin(ticket: string): BegunTransfer {
    const held = this.tickets.redeem(ticket);
    if (held === undefined) throw ticketUnknown();
    const { agentId, epoch, transfer, release } = held;
    try {
      const guest = this.agents.of(agentId).openAt(epoch);
      const wasCut = (): Error => staleEpoch(epoch, 'freezing');
      const { closing, still } = guest.cuts;
      // Whoever follows output hears of the end that a sleep brings.
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

/** Keeps it awake until the answered function is called. */
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
