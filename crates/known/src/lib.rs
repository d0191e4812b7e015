//! Markets with a known answer.
//!
//! A [`Kind`] is a finite Markov chain with a price move per transition. A [`KnownMarket`] is paths of it as bars, features
//! (the chain's state, nothing else) and windows, on which a trainer and a backtest work as on any market. Its optimal
//! [`Policy`] is solved for by value iteration over the chain's state and the exposure held, with rewards and successors from
//! the market's own kernel, and played on the test window through the same physics: that is the [`Optimum`], and what an agent
//! lost against it is its [`Optimum::regret`].
//!
//! ```no_run
//! use foxhunt_known::{KnownMarket, Lengths};
//! use foxhunt_train::{Config, Size};
//!
//! let known = KnownMarket::new("regimes", 1, Lengths::default())?;
//! let config = known.config(Config::of(Size::Small));
//! let optimum = known.optimum(&config)?;
//! // Train on `known.market` with `config`, backtest `TestWindow::test(&known.market)` to a ledger, then:
//! let regret = optimum.regret(&optimum.ledger, 0);
//! assert_eq!(regret, 0.0);
//! # Ok::<(), foxhunt_known::KnownError>(())
//! ```

mod chain;
mod error;
mod grid;
mod kinds;
mod learn;
mod market;
mod optimum;
mod physics;
mod solve;

pub use chain::{Chain, Move, State};
pub use error::KnownError;
pub use kinds::{Kind, markets};
pub use learn::Learned;
pub use market::{KnownMarket, Lengths};
pub use optimum::{Optimum, Played, log_return};
pub use physics::ACTIONS;
pub use solve::Policy;
