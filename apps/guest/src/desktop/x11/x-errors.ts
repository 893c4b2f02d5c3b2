import { DomainError } from '@berth/kernel';

/** The X server has ended or closed the connection; nothing tells what it still did. */
export const displayLost = (cause?: unknown): DomainError =>
  new DomainError('unavailable', 'display_lost', 'The desktop of this computer has ended.', {}, { cause });

export const displayUnresponsive = (): DomainError =>
  new DomainError('timeout', 'display_unresponsive', 'The desktop of this computer does not respond.');

/** The X server refuses the connection or lacks a part that every X server has had for twenty years. */
export const displayUnsupported = (message: string, cause?: unknown): DomainError =>
  new DomainError('unsupported', 'display_unsupported', message, {}, { cause, effect: 'none' });

/** An error of the protocol: the answer of the server to a request that it did not carry out. */
export class XProtocolError extends Error {
  override readonly name = 'XProtocolError';

  constructor(
    readonly code: number,
    readonly opcode: string,
  ) {
    super(`The X server answered request ${opcode} with error ${code}.`);
  }
}
