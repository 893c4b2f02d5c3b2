/** The host that the service runs on, for a service whose definition has `host`. */
export class HostIdentity {
  constructor(readonly id: string) {}
}
