import { Module } from '@nestjs/common';
import {
  AgentAuthenticator,
  Authenticators,
  EndUserAuthenticator,
  KeyAuthenticator,
} from './authenticators.js';
import { ShownSecrets } from './shown-secrets.js';
import { WebhookAuthentication } from './webhook-authentication.js';
import { CredentialWatch } from './credential-watch.js';

@Module({
  providers: [
    KeyAuthenticator,
    EndUserAuthenticator,
    AgentAuthenticator,
    Authenticators,
    CredentialWatch,
    WebhookAuthentication,
    ShownSecrets,
  ],
  exports: [Authenticators, CredentialWatch, WebhookAuthentication, ShownSecrets],
})
export class AuthModule {}
