import type { CommandMeta, EventStreams } from '@berth/event-store';
import { detach, newId } from '@berth/kernel';

/** An append grows with its commands, and all of them fail if it does. */
const MOST_AT_ONCE = 128;

/** The outcome of commands that were decided together. */
export interface Decided<Event> {
  readonly events: readonly Event[];
  /** The position of the last event; null without events. */
  readonly position: bigint | null;
}

interface Waiting<Command, Event> {
  readonly command: Command;
  readonly resolve: (decided: Decided<Event>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends commands to ledgers. Those that arrive for a ledger while an append to it is on its way are decided together in
 * the next one, so a busy ledger takes many calls per append instead of one.
 */
export class LedgerQueue<State, Command, Event> {
  readonly #waiting = new Map<string, Waiting<Command, Event>[]>();

  constructor(private readonly streams: EventStreams<State, readonly Command[], Event>) {}

  submit(ledgerId: string, accountId: string, command: Command): Promise<Decided<Event>> {
    return new Promise((resolve, reject) => {
      const entry = { command, resolve, reject };
      const waiting = this.#waiting.get(ledgerId);
      if (waiting !== undefined) {
        waiting.push(entry);
        return;
      }
      this.#waiting.set(ledgerId, [entry]);
      detach(this.#drain(ledgerId, accountId));
    });
  }

  async #drain(ledgerId: string, accountId: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(ledgerId)?.splice(0, MOST_AT_ONCE) ?? [];
      if (batch.length === 0) break;
      await this.#append(ledgerId, accountId, batch);
    }
    this.#waiting.delete(ledgerId);
  }

  async #append(
    ledgerId: string,
    accountId: string,
    batch: readonly Waiting<Command, Event>[],
  ): Promise<void> {
    const meta: CommandMeta = { commandId: newId('cmd'), accountId, actor: { kind: 'system', id: 'llm' } };
    const commands = batch.map(({ command }) => command);
    try {
      const decided = await this.streams.handle(ledgerId, commands, meta);
      for (const { resolve } of batch) resolve(decided);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
