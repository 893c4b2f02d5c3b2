import { Module } from '@nestjs/common';
import {
  AgentAuthenticator,
  Authenticators,
  EndUserAuthenticator,
  KeyAuthenticator,
} from './authenticators.js';
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
  ],
  exports: [Authenticators, CredentialWatch, WebhookAuthentication],
})
export class AuthModule {}
