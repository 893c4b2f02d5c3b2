import { Module } from '@nestjs/common';
import {
  AgentAuthenticator,
  Authenticators,
  EndUserAuthenticator,
  KeyAuthenticator,
} from './authenticators.js';
import { ShownSecrets } from './shown-secrets.js';
import { WebhookAuthentication } from './webhook-authentication.js';
import { ConnectionShares } from './connection-shares.js';
import { CredentialWatch } from './credential-watch.js';

@Module({
  providers: [
    KeyAuthenticator,
    EndUserAuthenticator,
    AgentAuthenticator,
    Authenticators,
    ConnectionShares,
    CredentialWatch,
    WebhookAuthentication,
    ShownSecrets,
  ],
  exports: [Authenticators, ConnectionShares, CredentialWatch, WebhookAuthentication, ShownSecrets],
})
export class AuthModule {}
