interface UnfitBrokerOptions extends ErrorOptions {
  readonly passesInCluster?: boolean;
  readonly servesMeanwhile?: boolean;
}

/** The broker is reachable but misconfigured; only its operator can fix that. The message continues "NATS_URL …". */
export class UnfitBroker extends Error {
  override readonly name = 'UnfitBroker';
  /** A cluster that has no leader yet refuses with the same error, so the error may disappear by itself. */
  readonly passesInCluster: boolean;
  /** The service can work nevertheless: it starts and reports itself as degraded. */
  readonly servesMeanwhile: boolean;

  constructor(message: string, options: UnfitBrokerOptions = {}) {
    super(message, options);
    this.passesInCluster = options.passesInCluster ?? false;
    this.servesMeanwhile = options.servesMeanwhile ?? false;
  }
}
