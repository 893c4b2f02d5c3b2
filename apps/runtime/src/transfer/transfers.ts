import type { ActivityKind } from '@berth/contracts/hosting';
import type { OpenTransfer, Transfer } from '@berth/contracts/runtime';
import { Injectable } from '@nestjs/common';
import { staleEpoch } from '../agent/agent-refusals.js';
import type { BoxedGuest } from '../agent/boxed-guest.js';
import { HostedAgents } from '../agent/hosted-agents.js';
import { ticketUnknown } from './transfer-refusals.js';
import { TransferTickets } from './transfer-tickets.js';

/** The activity of each kind of transfer. Following output is none: the execution itself keeps the agent awake. */
const ACTIVITY: { readonly [Kind in Transfer['kind']]: ActivityKind | null } = {
  list: 'file',
  download: 'file',
  stage: 'file',
  output: null,
  console: 'console',
  app: 'app',
  actions: 'computer',
  screenshot: 'computer',
  vnc: 'computer',
};

/** A running transfer. */
export interface RunningTransfer {
  readonly transfer: Transfer;
  readonly guest: BoxedGuest;
  /** Aborts when the agent prepares to sleep; for output, only after it is frozen or has ended. */
  readonly cut: AbortSignal;
  /** Creates the error to report once `cut` has aborted: the epoch of the transfer has ended. */
  readonly cutError: () => Error;
  /** Call when the transfer is over. */
  readonly release: () => void;
}

/** Issues and redeems tickets. Unless it is for output, a valid ticket or a running transfer keeps its agent awake. */
@Injectable()
export class Transfers {
  constructor(
    private readonly agents: HostedAgents,
    private readonly tickets: TransferTickets,
  ) {}

  /** Issues a ticket that can be redeemed once. Errors: not_found `agent_not_on_host`, conflict `stale_epoch`. */
  open({ agentId, epoch, transfer }: OpenTransfer): string {
    const guest = this.agents.of(agentId).openAt(epoch);
    return this.tickets.mint({ agentId, epoch, transfer, release: hold(guest, ACTIVITY[transfer.kind]) });
  }

  /** Redeems a ticket. Errors: unauthenticated `ticket_unknown`, and those of `open`. */
  begin(ticket: string): RunningTransfer {
    const held = this.tickets.redeem(ticket);
    if (held === undefined) throw ticketUnknown();
    const { agentId, epoch, transfer, release } = held;
    try {
      const guest = this.agents.of(agentId).openAt(epoch);
      const cutError = (): Error => staleEpoch(epoch, 'freezing');
      const { closing, halted } = guest.signals;
      // Falling asleep ends the commands; output is relayed until the freeze, so that its client receives that end.
      return { transfer, guest, cut: transfer.kind === 'output' ? halted : closing, cutError, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  close(): void {
    this.tickets.close();
  }
}

/**
 * Keeps the agent awake until the returned function is called or the agent prepares to sleep. Without a kind of
 * activity, does nothing.
 */
const hold = (guest: BoxedGuest, kind: ActivityKind | null): (() => void) => {
  const over = Promise.withResolvers<void>();
  if (kind !== null) {
    const held = guest.during(kind, async ({ closing }) => {
      closing.addEventListener('abort', () => over.resolve(), { once: true });
      await over.promise;
    });
    // One that has just gone to rest cuts the transfer by itself.
    held.catch(() => undefined);
  }
  return over.resolve;
};
