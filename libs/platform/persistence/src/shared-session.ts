import type { DedicatedConnection } from './dedicated-connection.js';

/** The right to use the shared connection until `release`. */
export interface SessionLease {
  readonly connection: DedicatedConnection;
  /** Another lease of the same connection. */
  share(): SessionLease;
  /** Call it once. Never throws. */
  release(): Promise<void>;
}

interface Session {
  readonly opening: Promise<DedicatedConnection>;
  leases: number;
}

/**
 * The one connection of a `Database` outside its pool: it carries all advisory locks. The first lease
 * opens it, the last one closes it, and a lease after a loss opens a new one.
 */
export class SharedSession {
  #session: Session | undefined;

  constructor(private readonly open: () => Promise<DedicatedConnection>) {}

  /** Rejects with the error of the connection attempt, which concurrent callers share. */
  async lease(): Promise<SessionLease> {
    const session = (this.#session ??= this.#start());
    session.leases++;
    return this.#leaseOf(session, await session.opening);
  }

  #start(): Session {
    const opened = (connection: DedicatedConnection): DedicatedConnection => {
      connection.closed.addEventListener('abort', () => this.#forget(session), { once: true });
      if (connection.closed.aborted) this.#forget(session);
      return connection;
    };
    const failed = (error: unknown): never => {
      this.#forget(session);
      throw error;
    };
    const session: Session = { opening: this.open().then(opened, failed), leases: 0 };
    return session;
  }

  #leaseOf(session: Session, connection: DedicatedConnection): SessionLease {
    return {
      connection,
      share: () => {
        session.leases++;
        return this.#leaseOf(session, connection);
      },
      release: () => this.#release(session, connection),
    };
  }

  async #release(session: Session, connection: DedicatedConnection): Promise<void> {
    session.leases--;
    if (session.leases > 0) return;
    this.#forget(session);
    const wasLost = connection.closed.aborted;
    const closing = connection.close();
    // A frozen server does not confirm the end.
    if (!wasLost) await closing;
  }

  #forget(session: Session): void {
    if (this.#session === session) this.#session = undefined;
  }
}
