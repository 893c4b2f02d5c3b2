interface UnfitBrokerOptions extends ErrorOptions {
  readonly passesInCluster?: boolean;
  readonly servesMeanwhile?: boolean;
}

/** The broker is there and cannot serve; only its operator can change that. The message continues "NATS_URL …". */
export class UnfitBroker extends Error {
  override readonly name = 'UnfitBroker';
  /** A cluster that has no leader yet refuses in the same words; only time tells the two apart. */
  readonly passesInCluster: boolean;
  /** The service can work meanwhile: it starts, and reports itself degraded. */
  readonly servesMeanwhile: boolean;

  constructor(message: string, options: UnfitBrokerOptions = {}) {
    super(message, options);
    this.passesInCluster = options.passesInCluster ?? false;
    this.servesMeanwhile = options.servesMeanwhile ?? false;
  }
}
