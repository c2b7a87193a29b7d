//! Certificates and keys in files, in the PEM format.

use std::fs;
use std::path::{Path, PathBuf};

use tonic::transport::{Certificate, ClientTlsConfig, ServerTlsConfig};

use crate::GrpcKind;

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file of the certificate, followed by those of its issuers.
    pub certificate: PathBuf,
    /// The file of the private key.
    pub key: PathBuf,
}

impl Identity {
    fn read(&self) -> Result<tonic::transport::Identity, GrpcKind> {
        let (certificate, key) = (read(&self.certificate)?, read(&self.key)?);
        Ok(tonic::transport::Identity::from_pem(certificate, key))
    }
}

/// The files of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its own certificate; a server needs one.
    pub identity: Option<Identity>,
    /// The authorities that issue the certificates of the other side. A server that has them accepts no client without a certificate; a
    /// client without them trusts those of the system.
    pub authorities: Option<PathBuf>,
}

impl TlsFiles {
    pub(crate) fn server(&self) -> Result<Option<ServerTlsConfig>, GrpcKind> {
        let Some(identity) = &self.identity else { return Ok(None) };
        let config = ServerTlsConfig::new().identity(identity.read()?);
        Ok(Some(match &self.authorities {
            Some(file) => config.client_ca_root(Certificate::from_pem(read(file)?)),
            None => config,
        }))
    }

    pub(crate) fn client(&self) -> Result<ClientTlsConfig, GrpcKind> {
        let config = match &self.authorities {
            Some(file) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(file)?)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        Ok(match &self.identity {
            Some(identity) => config.identity(identity.read()?),
            None => config,
        })
    }

    /// The file to name in a message about all of them.
    pub(crate) fn name(&self) -> String {
        let file = self.identity.as_ref().map(|it| &it.certificate).or(self.authorities.as_ref());
        file.map_or_else(
            || "the certificates of the system".to_owned(),
            |it| it.display().to_string(),
        )
    }
}

fn read(file: &Path) -> Result<Vec<u8>, GrpcKind> {
    let invalid =
        |reason: String| GrpcKind::InvalidTls { file: file.display().to_string(), reason };
    let text = fs::read(file).map_err(|error| invalid(error.to_string()))?;
    match text.windows(11).any(|it| it == b"-----BEGIN ") {
        true => Ok(text),
        false => Err(invalid("expected a file in the PEM format".to_owned())),
    }
}
