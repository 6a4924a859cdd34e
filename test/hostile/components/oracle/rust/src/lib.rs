// A delegate in Rust that passes every type of the ABI in both directions.
wit_bindgen::generate!({ path: "../../../../../wit/1.0.0", world: "delegate", generate_all });

use cni::delegate::{leases, log, resolver};
use exports::cni::delegate::plugin::{AttachmentRequest, Fault, GcRequest, Guest, StatusRequest, Success};
use cni::delegate::types::{Attachment, AttachmentId, IpConfig};

struct Echo;

fn pool_of(attachment: &Attachment) -> leases::Pool {
    leases::Pool { directory: attachment.netns.clone(), set: attachment.args.len() as u32 }
}

fn owner_of(attachment: &Attachment) -> AttachmentId {
    AttachmentId { container_id: attachment.container_id.clone(), ifname: attachment.ifname.clone() }
}

impl Guest for Echo {
    fn add(request: AttachmentRequest) -> Result<Success, Fault> {
        log::write(log::Level::Warn, &format!("{request:?}"));
        let pool = pool_of(&request.attachment);
        let owner = owner_of(&request.attachment);
        leases::reserve(&pool, &request.network.config, &owner)?;
        let ranges: Vec<_> = request.attachment.args.iter()
            .map(|arg| leases::AddressRange { first: arg.key.clone(), last: arg.value.clone() })
            .collect();
        let skip = [request.network.name.clone(), request.network.cni_version.clone()];
        let next = leases::reserve_next(&pool, &ranges, &skip, &owner)?;
        if request.network.name.starts_with("fail") {
            return Err(Fault { code: request.network.config.len() as u32, msg: request.network.config, details: request.attachment.netns });
        }
        Ok(request.prev_result.unwrap_or(Success {
            interfaces: vec![],
            ips: vec![IpConfig { address: next.map_or("none".into(), |reservation| reservation.address), gateway: None, interface: Some(-1) }],
            routes: vec![],
            dns: None,
        }))
    }
    fn del(request: AttachmentRequest) -> Result<(), Fault> {
        let count = leases::release(&pool_of(&request.attachment), &owner_of(&request.attachment))?;
        log::write(log::Level::Debug, &count.to_string());
        Ok(())
    }
    fn check(request: AttachmentRequest) -> Result<(), Fault> {
        let list = leases::held(&pool_of(&request.attachment), &owner_of(&request.attachment))?;
        Err(Fault { code: list.len() as u32, msg: list.join(","), details: None })
    }
    fn gc(request: GcRequest) -> Result<(), Fault> {
        let count = leases::retain(&leases::Pool { directory: None, set: u32::MAX }, &request.valid)?;
        log::write(log::Level::Info, &count.to_string());
        Ok(())
    }
    fn status(StatusRequest { network, .. }: StatusRequest) -> Result<(), Fault> {
        leases::probe(&leases::Pool { directory: Some(network.name), set: 0 })?;
        log::write(log::Level::Error, &format!("{:?}", resolver::read(&network.config)?));
        leases::count(&leases::Pool { directory: None, set: 1 }, &[], network.config.len() as u32)?;
        Ok(())
    }
}

export!(Echo);
